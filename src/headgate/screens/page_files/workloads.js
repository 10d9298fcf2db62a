"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  if (!data.workloads.length) return;
  byId("workloads").hidden = false;

  const DAY = 24 * 3600e3, LABEL = 190, AXIS = 22;
  const HEIGHTS = { normal: [16, 11], small: [6, 4] };
  const firstDay = Math.floor(data.start / DAY);
  const two = (n) => String(n).padStart(2, "0");
  function clock(ms) {
    if (ms === null) return "never";
    const at = new Date(ms), day = Math.floor(ms / DAY) - firstDay;
    return `${day ? `Day ${day + 1} ` : ""}${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${at.getUTCSeconds() ? ":" + two(at.getUTCSeconds()) : ""}`;
  }
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  /* Neighbouring revisions lie far apart on the circle; red is left out, it means trouble elsewhere on the page. */
  function colour(revision, lightness) {
    const hue = 40 + (170 + (revision || 0) * 137.5) % 280;
    const shade = !isDark() ? lightness : lightness > 60 ? 108 - lightness : lightness + 8;
    return `hsl(${hue} ${isDark() ? 50 : 58}% ${shade}%)`;
  }
  const PHASES = [
    ["waits for a node", (revision) => [colour(revision, 82), "outline"]],
    ["starts", (revision) => [colour(revision, 70), "stripes"]],
    ["ready", (revision) => [colour(revision, 46), "solid"]],
    ["terminates", () => [isDark() ? "#6b7688" : "#9aa3b2", "thin"]],
  ];

  function phasesOf(pod) {
    const [, , revision, created, scheduled, ready, deleted, gone] = pod, end = deleted === null ? gone : deleted;
    const found = [[0, created, scheduled === null ? end : scheduled]];
    if (scheduled !== null) {
      let since = scheduled;
      for (const [from, to] of ready) {
        if (since !== null) found.push([1, since, from]);
        found.push([2, from, to]);
        since = to;
      }
      if (since !== null && since !== end) found.push([1, since, end]);
    }
    if (deleted !== null) found.push([3, deleted, gone]);
    return found.map(([phase, from, to]) => ({ phase, from, to: to === null ? last : to, revision }));
  }

  const last = data.end + Math.max((data.end - data.start) * 0.04, 1000);
  const charts = [];

  function linesOf(workload) {
    const wanted = byId("workload-replica").value, lines = [];
    let replica = null, group = null;
    workload.rows.forEach((row, number) => {
      if (wanted !== "" && String(row[0]) !== wanted) return;
      if (row[0] !== replica) {
        replica = row[0];
        group = "";
        lines.push({ heading: `${workload.name} ${replica}`, level: 0 });
      }
      if (row[1] !== group) {
        group = row[1];
        if (group) lines.push({ heading: group, level: 1 });
      }
      lines.push({ number, text: `${row[2]} ${row[3]}`, level: group ? 2 : 1, surge: row[4] });
    });
    return lines;
  }

  function build(workload) {
    const box = document.createElement("div"), title = document.createElement("h3");
    box.className = "workload";
    title.textContent = `PodCliqueSet ${workload.name}`;
    const frame = document.createElement("div"), canvas = document.createElement("canvas"), spacer = document.createElement("div");
    frame.className = "frame";
    frame.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Pods of ${workload.name} over time: ${workload.pods.length} pods in ${workload.rows.length} places`);
    frame.append(canvas, spacer);
    box.append(title, frame);
    byId("workload-charts").append(box);
    const podsOf = workload.rows.map(() => []);
    for (const pod of workload.pods) podsOf[pod[0]].push(pod);
    const chart = { workload, frame, canvas, spacer, podsOf, lines: [] };
    frame.addEventListener("scroll", () => draw(chart));
    canvas.addEventListener("mousemove", (event) => point(chart, event));
    charts.push(chart);
  }

  const x = (chart, ms) => LABEL + (ms - data.start) / (last - data.start) * (chart.width - LABEL - 8);

  function arrange(chart) {
    chart.lines = linesOf(chart.workload);
    const [height] = HEIGHTS[byId("workload-rows").value];
    const whole = AXIS + chart.lines.length * height + 4;
    chart.shown = Math.min(whole, Math.floor(innerHeight * 0.62));
    chart.spacer.style.height = `${whole - chart.shown}px`;
    draw(chart);
  }

  function draw(chart) {
    const { canvas, frame } = chart, ratio = devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim(), soft = style.getPropertyValue("--soft").trim(), line = style.getPropertyValue("--line").trim();
    chart.width = frame.clientWidth;
    canvas.style.height = `${chart.shown}px`;
    canvas.width = chart.width * ratio;
    canvas.height = chart.shown * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, chart.width, chart.shown);
    const [height, bar] = HEIGHTS[byId("workload-rows").value], top = frame.scrollTop;
    pen.textBaseline = "middle";
    const first = Math.max(0, Math.floor((top - AXIS) / height)), final = Math.min(chart.lines.length, Math.ceil((top + chart.shown) / height));
    for (let n = first; n < final; n++) {
      const row = chart.lines[n], y = AXIS + n * height - top;
      if (row.heading !== undefined) {
        pen.fillStyle = ink;
        pen.font = `${row.level ? 500 : 700} ${height > 10 ? 12 : 6}px system-ui, sans-serif`;
        pen.fillText(row.heading, 4 + row.level * 12, y + height / 2);
        pen.strokeStyle = line;
        if (!row.level) { pen.beginPath(); pen.moveTo(0, y + 0.5); pen.lineTo(chart.width, y + 0.5); pen.stroke(); }
        continue;
      }
      if (height > 10) {
        pen.fillStyle = soft;
        pen.font = "12px system-ui, sans-serif";
        pen.fillText(row.text + (row.surge ? "  surge" : ""), 4 + row.level * 12, y + height / 2);
      }
      if (row.surge) {
        pen.fillStyle = isDark() ? "#3d2d1066" : "#fdf1dc88";
        pen.fillRect(LABEL, y, chart.width - LABEL, height);
      }
      for (const pod of chart.podsOf[row.number]) for (const phase of phasesOf(pod)) drawPhase(pen, chart, phase, y + (height - bar) / 2, bar);
    }
    drawAxis(pen, chart, soft, line);
  }

  function drawPhase(pen, chart, { phase, from, to, revision }, y, height) {
    const left = x(chart, from), width = Math.max(x(chart, to) - left, to > from ? 1 : 0);
    const [paint, kind] = PHASES[phase][1](revision);
    pen.fillStyle = paint;
    if (kind === "thin") pen.fillRect(left, y + height / 3, width, Math.max(1, height / 3));
    else if (kind === "outline") {
      pen.strokeStyle = colour(revision, 46);
      pen.fillRect(left, y, width, height);
      if (height > 6) pen.strokeRect(left + 0.5, y + 0.5, Math.max(width - 1, 0), height - 1);
    } else {
      pen.fillRect(left, y, width, height);
      if (kind === "stripes" && height > 6) {
        pen.save();
        pen.beginPath();
        pen.rect(left, y, width, height);
        pen.clip();
        pen.strokeStyle = colour(revision, 46);
        for (let at = left - height; at < left + width; at += 6) { pen.beginPath(); pen.moveTo(at, y + height); pen.lineTo(at + height, y); pen.stroke(); }
        pen.restore();
      }
      if (kind === "solid" && height > 6 && width > 26) {
        pen.fillStyle = isDark() ? "#10151d" : "#ffffff";
        pen.font = "10px system-ui, sans-serif";
        pen.fillText(`r${revision}`, left + 4, y + height / 2 + 0.5);
      }
    }
  }

  const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800].map((seconds) => seconds * 1000);
  function drawAxis(pen, chart, soft, line) {
    const style = getComputedStyle(document.documentElement);
    pen.fillStyle = style.getPropertyValue("--card").trim();
    pen.fillRect(0, 0, chart.width, AXIS - 2);
    const room = (chart.width - LABEL) / 110, size = STEPS.find((step) => (last - data.start) / step <= room) || STEPS[STEPS.length - 1];
    pen.font = "11px system-ui, sans-serif";
    for (let at = Math.ceil(data.start / size) * size; at <= last; at += size) {
      const place = x(chart, at);
      pen.strokeStyle = line;
      pen.beginPath();
      pen.moveTo(place + 0.5, AXIS - 4);
      pen.lineTo(place + 0.5, chart.shown);
      pen.globalAlpha = 0.6;
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillStyle = soft;
      if (place < chart.width - 40) pen.fillText(clock(at), place + 3, AXIS / 2);
    }
  }

  function point(chart, event) {
    const bounds = chart.canvas.getBoundingClientRect(), [height] = HEIGHTS[byId("workload-rows").value];
    const row = chart.lines[Math.floor((event.clientY - bounds.top + chart.frame.scrollTop - AXIS) / height)];
    const left = event.clientX - bounds.left, chosen = byId("workload-chosen");
    if (!row || row.number === undefined) return;
    const pods = chart.podsOf[row.number].filter((pod) => x(chart, pod[3]) <= left && left <= x(chart, pod[7] === null ? last : pod[7]));
    if (!pods.length) return;
    chosen.textContent = pods.map(([, name, revision, created, scheduled, ready, deleted, gone]) =>
      `${name}${row.surge ? " (surge)" : ""}, revision ${revision}: created ${clock(created)}, bound ${clock(scheduled)}, ready ${clock(ready.length ? ready[0][0] : null)}` +
      (deleted === null ? "" : `, deleted ${clock(deleted)}, gone ${clock(gone)}`)).join("; ");
  }

  function legend() {
    const box = byId("workload-legend"), most = Math.max(...data.workloads.map((workload) => workload.revisions), 1);
    box.replaceChildren();
    const item = (text, paint, kind) => {
      const mark = document.createElement("i"), label = document.createElement("span");
      if (kind === "stripes") mark.style.background = `repeating-linear-gradient(135deg, ${colour(1, 46)} 0 1px, ${paint} 1px 5px)`;
      else mark.style.background = paint;
      if (kind === "outline") mark.style.boxShadow = `inset 0 0 0 1px ${colour(1, 46)}`;
      if (kind === "thin") mark.style.height = "4px", mark.style.verticalAlign = "3px";
      label.append(mark, text);
      box.append(label);
    };
    for (const [text, look] of PHASES) if (text !== "ready") item(text, ...look(1));
    for (let revision = 1; revision <= Math.min(most, 12); revision++) item(`ready, revision ${revision}`, colour(revision, 46), "solid");
    if (data.workloads.some((workload) => workload.rows.some((row) => row[4]))) item("place of a surge pod", isDark() ? "#3d2d10" : "#fdf1dc", "solid");
  }

  const replicas = [...new Set(data.workloads.flatMap((workload) => workload.rows.map((row) => row[0])))].sort((a, b) => a - b);
  for (const replica of replicas) byId("workload-replica").append(new Option(replica, replica));
  if (data.workloads.some((workload) => workload.rows.length > 200)) byId("workload-rows").value = "small";
  data.workloads.forEach(build);
  const all = () => { legend(); charts.forEach(arrange); };
  byId("workload-replica").addEventListener("change", all);
  byId("workload-rows").addEventListener("change", all);
  addEventListener("resize", all);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  if (data.workloadBudgets.length) {
    const table = document.createElement("table");
    table.innerHTML = "<thead><tr><th>Budget</th><th>Of</th><th>Peak</th><th>Limit</th></tr></thead>";
    const body = table.createTBody();
    for (const [kind, scope, peak, limit] of data.workloadBudgets.slice(0, 200)) {
      const row = body.insertRow();
      for (const text of [kind, scope, peak, limit]) row.insertCell().textContent = text;
      if (peak > limit) row.className = "bad-text";
    }
    byId("workload-budgets").append(table);
  }
  all();
})();
