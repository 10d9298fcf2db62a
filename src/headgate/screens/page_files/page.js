"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  let LANE = 13, PAD = 4;
  const HOUR = 3600e3, DAY = 24 * HOUR;
  const LIVE = new Set(["pending", "queued", "inProgress", "actionRequired"]);
  const FIELDS = ["row", "deployment", "tag", "status", "start", "stop", "kind", "attempt", "group", "message", "environment"];
  const jobs = data.jobs.map((values) => Object.fromEntries(FIELDS.map((field, n) => [field, values[n]])));
  for (const job of jobs) job.end = job.stop === null ? Math.max(data.end, job.start) : job.stop;
  const isBad = (job) => job.status !== "successful" && !LIVE.has(job.status) && job.status !== "cancelled" && job.status !== "skipped";

  /* Words */
  const firstDay = Math.floor(data.start / DAY);
  const two = (n) => String(n).padStart(2, "0");
  function clock(ms) {
    if (ms === null || ms === undefined) return "";
    const at = new Date(ms);
    const seconds = at.getUTCSeconds() ? ":" + two(at.getUTCSeconds()) : "";
    return `Day ${Math.floor(ms / DAY) - firstDay + 1} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${seconds}`;
  }
  const stamp = (ms) => new Date(ms).toISOString().replace("T", " ").replace(/:00\.000Z|\.000Z/, "") + " UTC";
  function span(ms) {
    const parts = [[DAY, "d"], [HOUR, "h"], [60e3, "m"], [1e3, "s"]];
    let text = "";
    for (const [size, unit] of parts) {
      const count = Math.floor(ms / size);
      ms -= count * size;
      if (count) text += count + unit;
    }
    return text || "0s";
  }
  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  /* Header */
  byId("scenario").textContent = data.scenario;
  document.title = `${data.scenario} · Headgate simulation`;
  const pill = byId("verdict");
  pill.textContent = data.violations.length ? "promise broken" : data.converged ? "converged" : data.wasCut ? "stopped before it converged" : "not converged";
  if (data.violations.length) pill.classList.add("bad");
  else if (!data.converged) pill.classList.add("warn");
  const failures = jobs.filter(isBad).length;
  const isFleet = jobs.length > 0 || !(data.workloads.length || data.graphs.length);
  byId("jobs-section").hidden = !isFleet;
  const sum = (count) => data.workloads.reduce((total, workload) => total + count(workload), 0).toLocaleString("en");
  const facts = [
    ["Start", stamp(data.start)], ["End", `${stamp(data.end)} (${span(data.end - data.start)})`],
    ...(isFleet ? [
      ["Jobs", jobs.length.toLocaleString("en")], ["Failures", failures, failures > 0],
      ["Resources", data.resources.length.toLocaleString("en")], ["Groups", data.groups.length.toLocaleString("en")],
    ] : []),
    ...(data.graphs.length ? [["Instances", data.graphs.length.toLocaleString("en")], ["Objects", data.graphs.reduce((total, graph) => total + graph.rows.length, 0).toLocaleString("en")]] : []),
    ...(data.workloads.length ? [["Pods", sum((workload) => workload.pods.length)], ["Places", sum((workload) => workload.rows.length)]] : []),
    ["Violations", data.violations.length, data.violations.length > 0], ["Seed", data.seed],
  ];
  for (const [name, value, bad] of facts) {
    const box = element("div");
    box.append(element("dt", name), element("dd", String(value), bad ? "bad" : ""));
    byId("facts").append(box);
  }
  for (const [at, promise, message] of data.violations.slice(0, 20)) {
    byId("alerts").append(element("div", `${promise} at ${clock(at)}: ${message}`, "alert"));
    byId("alerts").hidden = false;
  }

  /* Colours */
  let style;
  function colour(name) { return style.getPropertyValue("--" + name).trim(); }
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  function deploymentColour(n) {
    const hue = 30 + (182 + n * 185.41) % 300; /* never red, which means failure */
    return isDark() ? `hsl(${hue} 52% ${58 + (n % 3) * 5}%)` : `hsl(${hue} 55% ${46 + (n % 3) * 6}%)`;
  }
  function outcomeColour(job) {
    if (isBad(job)) return colour("bad");
    if (job.status === "successful") return colour("good");
    return LIVE.has(job.status) ? colour("accent") : colour("collecting");
  }
  const barColour = (job) => byId("colour").value === "outcome" ? outcomeColour(job) : deploymentColour(job.deployment);
  const PHASES = { collecting: "collecting", ready: "waiting", queued: "waiting", executing: "executing", failed: "bad" };

  /* Rows: parallel jobs of one resource lie in lanes below each other. */
  const lanes = new Array(data.resources.length).fill(1);
  const jobsOfRow = data.resources.map(() => []);
  for (const job of jobs) jobsOfRow[job.row].push(job);
  jobsOfRow.forEach((row, n) => {
    const free = [];
    for (const job of row.sort((a, b) => a.start - b.start)) {
      let lane = free.findIndex((end) => end <= job.start);
      if (lane < 0) lane = free.length;
      free[lane] = Math.max(job.end, job.start + 1);
      job.lane = lane;
    }
    lanes[n] = Math.max(1, free.length);
  });
  const groupsOfRow = data.resources.map(() => []);
  data.groups.forEach((group) => groupsOfRow[group.row].push(group));

  let rows = [], tops = [], visibleJobs = [], atOnce = 0;
  const wordsOf = (job) => `${data.resources[job.row]} ${data.deployments[job.deployment]} ${job.tag} ${job.status} ${job.kind} ${job.environment}`.toLowerCase();
  for (const job of jobs) job.words = wordsOf(job);
  const HEIGHTS = { normal: [13, 4], small: [5, 3] };
  function rowHeights() {
    const lanesInAll = rows.reduce((sum, n) => sum + lanes[n] + 0.3, 0) || 1;
    const one = Math.max(0.2, Math.min(13, Math.floor(innerHeight * 0.62) / lanesInAll));
    return HEIGHTS[byId("rows").value] || [one, Math.min(4, one * 0.3)];
  }
  function arrange() {
    const wanted = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (words) => wanted.every((word) => words.includes(word));
    rows = [];
    visibleJobs = [];
    data.resources.forEach((name, n) => {
      const inside = jobsOfRow[n].filter((job) => (job.shown = fits(job.words)));
      if (inside.length || fits(name.toLowerCase())) {
        rows.push(n);
        for (const job of jobsOfRow[n]) if (!inside.length) job.shown = true;
        visibleJobs.push(...(inside.length ? inside : jobsOfRow[n]));
      }
    });
    if (byId("order").value === "start") {
      const first = (n) => jobsOfRow[n].length ? jobsOfRow[n][0].start : Infinity;
      rows.sort((a, b) => first(a) - first(b) || a - b);
    }
    [LANE, PAD] = rowHeights();
    tops = [0];
    for (const n of rows) tops.push(tops[tops.length - 1] + lanes[n] * LANE + PAD);
    byId("spacer").style.height = "0px";
    atOnce = mostAtOnce();
    drawAll();
    fillGroups(true);
  }

  /* Time window */
  const whole = [data.start, Math.max(data.end, data.start + 60e3)];
  const working = jobs.length
    ? [jobs.reduce((least, job) => Math.min(least, job.start), Infinity), jobs.reduce((most, job) => Math.max(most, job.end), 0)]
    : whole.slice();
  function padded([from, to]) {
    const margin = Math.max((to - from) * 0.02, 20e3);
    return [Math.max(whole[0], from - margin), Math.min(whole[1] + margin, to + margin)];
  }
  let view = padded(working);
  function look(from, to) {
    const least = 10e3, most = (whole[1] - whole[0]) * 1.05 + 60e3;
    const width = Math.min(Math.max(to - from, least), most);
    const middle = (from + to) / 2;
    let start = middle - width / 2;
    start = Math.max(whole[0] - width * 0.5, Math.min(start, whole[1] - width * 0.5));
    view = [start, start + width];
    drawAll();
  }
  function zoom(factor, around = (view[0] + view[1]) / 2) {
    look(around - (around - view[0]) * factor, around + (view[1] - around) * factor);
  }
  const shift = (share) => look(view[0] + (view[1] - view[0]) * share, view[1] + (view[1] - view[0]) * share);

  /* Canvases */
  let gutter = 90;
  function fit(canvas, height) {
    const ratio = devicePixelRatio || 1, width = canvas.parentElement.clientWidth - (canvas.id === "bars" ? 0 : 32) || 300;
    canvas.style.height = height + "px";
    const real = canvas.getBoundingClientRect().width || width;
    canvas.width = Math.round(real * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, real, height);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    return [pen, real];
  }
  const xOf = (ms, width) => gutter + (ms - view[0]) / (view[1] - view[0]) * (width - gutter);
  const timeAt = (x, width) => view[0] + (x - gutter) / (width - gutter) * (view[1] - view[0]);
  const STEPS = [1e3, 5e3, 15e3, 30e3, 60e3, 5 * 60e3, 15 * 60e3, 30 * 60e3, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];
  function ticks(width) {
    const step = STEPS.find((size) => (view[1] - view[0]) / size <= (width - gutter) / 90) || 56 * DAY;
    const found = [];
    for (let at = Math.ceil(view[0] / step) * step; at <= view[1]; at += step) found.push(at);
    return found;
  }
  function cut(pen, text, width) {
    if (pen.measureText(text).width <= width) return text;
    while (text.length > 1 && pen.measureText(text + "…").width > width) text = text.slice(0, -1);
    return text + "…";
  }

  function drawAxis() {
    const [pen, width] = fit(byId("axis"), 26);
    pen.fillStyle = colour("soft");
    let previous = "";
    for (const at of ticks(width)) {
      const words = clock(at).split(" ");
      const label = words[1] === previous ? words[2] : `Day ${words[1]} ${words[2]}`;
      previous = words[1];
      const x = xOf(at, width);
      pen.fillRect(x, 20, 1, 6);
      pen.textAlign = x > width - 40 ? "right" : "center";
      pen.fillText(label, Math.min(x, width), 10);
    }
    for (const [at] of data.steps) {
      const x = xOf(at, width);
      if (x < gutter || x > width) continue;
      pen.fillStyle = colour("accent");
      pen.beginPath();
      pen.moveTo(x - 4, 19); pen.lineTo(x + 4, 19); pen.lineTo(x, 26);
      pen.fill();
      pen.fillStyle = colour("soft");
    }
  }

  function mostAtOnce() {
    const events = visibleJobs.flatMap((job) => [[job.start, 1], [job.end, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let running = 0, most = 0;
    for (const [, change] of events) most = Math.max(most, running += change);
    return most;
  }
  function drawOverview() {
    const [pen, width] = fit(byId("overview"), 44);
    const place = (ms) => gutter + (ms - whole[0]) / (whole[1] - whole[0]) * (width - gutter);
    const bins = new Float64Array(Math.max(1, Math.ceil(width - gutter)) + 2);
    const bad = new Uint8Array(bins.length);
    for (const job of visibleJobs) {
      const from = Math.max(0, Math.floor(place(job.start) - gutter)), to = Math.max(from + 1, Math.ceil(place(job.end) - gutter));
      bins[from] += 1;
      bins[Math.min(to, bins.length - 1)] -= 1;
      if (isBad(job)) bad[Math.min(to - 1, bad.length - 1)] = 1;
    }
    let running = 0, most = 1;
    const heights = bins.map((change) => { running += change; most = Math.max(most, running); return running; });
    pen.fillStyle = colour("soft");
    pen.fillText("running", 0, 14);
    pen.fillText(`up to ${atOnce}`, 0, 30);
    heights.forEach((count, n) => {
      if (count <= 0) return;
      const height = Math.max(2, count / most * 36);
      pen.fillStyle = colour("executing");
      pen.fillRect(gutter + n, 40 - height, 1, height);
    });
    bad.forEach((is, n) => { if (is) { pen.fillStyle = colour("bad"); pen.fillRect(gutter + n - 1, 0, 3, 5); } });
    pen.strokeStyle = colour("accent");
    pen.lineWidth = 1.5;
    const left = Math.max(gutter, place(view[0])), right = Math.min(width - 1, place(view[1]));
    pen.globalAlpha = 0.12;
    pen.fillStyle = colour("accent");
    pen.fillRect(left, 1, Math.max(3, right - left), 41);
    pen.globalAlpha = 1;
    pen.strokeRect(left, 1, Math.max(3, right - left), 41);
  }

  let chosen = null;
  function drawBars() {
    const box = byId("chart"), total = tops[tops.length - 1] || 20;
    const height = Math.min(Math.max(total, 40), Math.round(innerHeight * 0.62));
    const [pen, width] = fit(byId("bars"), height);
    byId("spacer").style.height = Math.max(0, total - height) + "px";
    const scroll = Math.min(box.scrollTop, Math.max(0, total - height));
    const marks = ticks(width);
    let low = 0, high = rows.length;
    while (low < high) { const middle = (low + high) >> 1; if (tops[middle + 1] <= scroll) low = middle + 1; else high = middle; }
    for (let n = low; n < rows.length && tops[n] < scroll + height; n++) {
      drawRow(pen, rows[n], tops[n] - scroll, tops[n + 1] - tops[n], width, n);
    }
    pen.fillStyle = colour("line");
    pen.globalAlpha = 0.7;
    for (const at of marks) pen.fillRect(xOf(at, width), 0, 1, height);
    pen.globalAlpha = 1;
    if (!rows.length) {
      pen.fillStyle = colour("soft");
      pen.fillText(jobs.length ? "Nothing matches the filter." : "No job ran.", gutter, 20);
    }
  }
  function drawRow(pen, row, top, height, width, number) {
    if (number % 2 && height > 3) { pen.fillStyle = colour("stripe"); pen.fillRect(0, top, width, height); }
    pen.save();
    pen.beginPath();
    pen.rect(gutter, top, width - gutter, height);
    pen.clip();
    for (const group of groupsOfRow[row]) drawPhases(pen, group, top, height, width);
    for (const job of jobsOfRow[row]) drawJob(pen, job, top, width);
    pen.restore();
    if (height < 8 && number % Math.ceil(14 / height)) return;
    pen.fillStyle = colour("ink");
    pen.textAlign = "left";
    pen.font = height < 12 ? "10px system-ui, sans-serif" : "12px system-ui, sans-serif";
    pen.fillText(cut(pen, data.resources[row], gutter - 10), 2, top + height / 2);
  }
  function drawPhases(pen, group, top, height, width) {
    group.history.forEach(([at, status], n) => {
      const name = PHASES[status];
      if (!name) return;
      const until = n + 1 < group.history.length ? group.history[n + 1][0] : data.end;
      const x = Math.max(gutter, xOf(at, width)), end = Math.min(width, xOf(until, width));
      if (end <= x) return;
      pen.fillStyle = colour(name);
      pen.globalAlpha = status === "failed" ? 0.3 : status === "executing" ? 0.24 : 0.18;
      if (status !== "collecting") pen.fillRect(x, top + (LANE > 1 ? 1 : 0), end - x, height - (LANE > 1 ? 2 : 0));
      else if (LANE > 1) pen.fillRect(x, top + height - 4, end - x, 3);
      pen.globalAlpha = 1;
    });
  }
  function drawJob(pen, job, top, width) {
    const x = xOf(job.start, width), right = xOf(job.end, width);
    if (right < gutter || x > width) return;
    const y = top + PAD / 2 + job.lane * LANE, long = Math.max(1.5, right - x - 0.5), tall = LANE > 4 ? LANE - (LANE > 9 ? 2 : 1) : Math.max(0.8, LANE);
    pen.globalAlpha = job.shown ? 1 : 0.15;
    pen.fillStyle = barColour(job);
    pen.beginPath();
    pen.roundRect(x, y, long, tall, LANE > 9 ? Math.min(3, long / 2) : 0);
    pen.fill();
    if (isBad(job)) {
      pen.fillStyle = colour("bad");
      pen.fillRect(Math.max(x, x + long - 4), y, Math.min(4, long), tall);
      if (LANE > 9) {
        pen.strokeStyle = colour("bad");
        pen.lineWidth = 1.5;
        pen.strokeRect(x + 0.5, y + 0.5, Math.max(1, long - 1), tall - 1);
      }
    }
    if (long > 46 && LANE > 9) {
      pen.fillStyle = isDark() ? "#0d1117" : "#ffffff";
      pen.font = "10px system-ui, sans-serif";
      pen.textAlign = "left";
      pen.fillText(cut(pen, `${data.deployments[job.deployment]} ${job.tag}`, long - 8), Math.max(x, gutter) + 4, y + tall / 2 + 0.5);
      pen.font = "12px system-ui, sans-serif";
    }
    if (job === chosen) {
      pen.strokeStyle = colour("ink");
      pen.lineWidth = 2;
      pen.strokeRect(x - 1, y - 1, long + 2, tall + 2);
    }
    pen.globalAlpha = 1;
  }

  function drawBudgets() {
    data.budgets.forEach((budget, n) => {
      const canvas = byId("budget-" + n);
      const [pen, width] = fit(canvas, 84);
      const top = Math.max(1, budget.limit, budget.peak, ...budget.series.slice(0, 2000).map((point) => point[2]));
      const y = (count) => 72 - count / top * 62;
      pen.fillStyle = colour("soft");
      pen.textAlign = "right";
      pen.fillText("0", gutter - 6, y(0));
      pen.fillText(String(top), gutter - 6, y(top));
      pen.save();
      pen.beginPath();
      pen.rect(gutter, 0, width - gutter, 84);
      pen.clip();
      const points = budget.series.concat([[data.end, null, null]]);
      pen.beginPath();
      pen.moveTo(xOf(data.start, width), y(0));
      let used = 0;
      for (const [at, count] of points) {
        pen.lineTo(xOf(at, width), y(used));
        if (count !== null) { used = count; pen.lineTo(xOf(at, width), y(used)); }
      }
      pen.lineTo(xOf(data.end, width), y(0));
      pen.closePath();
      pen.fillStyle = colour("executing");
      pen.globalAlpha = 0.35;
      pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = colour("executing");
      pen.lineWidth = 1.5;
      pen.stroke();
      pen.strokeStyle = colour("limit");
      pen.setLineDash([5, 4]);
      pen.beginPath();
      let limit = budget.series.length ? budget.series[0][2] : budget.limit;
      pen.moveTo(gutter, y(limit));
      for (const [at, , value] of budget.series) {
        if (value === limit) continue;
        pen.lineTo(xOf(at, width), y(limit));
        limit = value;
        pen.lineTo(xOf(at, width), y(limit));
      }
      pen.lineTo(width, y(limit));
      pen.stroke();
      pen.setLineDash([]);
      pen.restore();
      pen.fillStyle = colour("line");
      pen.fillRect(gutter, y(0), width - gutter, 1);
    });
  }

  let isPlanned = false;
  function drawAll() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      style = getComputedStyle(document.documentElement);
      const longest = data.resources.reduce((most, name) => Math.max(most, name.length), 6);
      gutter = Math.min(190, Math.max(64, longest * 7.2 + 14));
      drawOverview();
      drawAxis();
      drawBars();
      drawBudgets();
      drawLegend();
    });
  }

  function drawLegend() {
    const legend = byId("legend");
    legend.replaceChildren();
    const add = (paint, text) => {
      const item = element("span"), dot = element("i");
      dot.style.background = paint;
      item.append(dot, text);
      legend.append(item);
    };
    if (byId("colour").value === "outcome") {
      add(colour("good"), "successful"); add(colour("bad"), "failed"); add(colour("accent"), "still running"); add(colour("collecting"), "cancelled or skipped");
    } else {
      data.deployments.slice(0, 24).forEach((name, n) => add(deploymentColour(n), name));
      if (failures) add(colour("bad"), "failed (red edge)");
    }
    if (data.groups.length) {
      add(colour("collecting"), "group collecting"); add(colour("waiting"), "group ready or queued"); add(colour("executing"), "group executing");
    }
  }

  /* Pointing */
  function jobAt(event) {
    const box = byId("bars").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + byId("chart").scrollTop;
    let low = 0, high = rows.length;
    while (low < high) { const middle = (low + high) >> 1; if (tops[middle + 1] <= y) low = middle + 1; else high = middle; }
    if (low >= rows.length || x < gutter) return null;
    const lane = Math.floor((y - tops[low] - PAD / 2) / LANE);
    let best = null, distance = 4;
    for (const job of jobsOfRow[rows[low]]) {
      if (job.lane !== lane) continue;
      const left = xOf(job.start, box.width), right = Math.max(left + 2, xOf(job.end, box.width));
      const off = x < left ? left - x : x > right ? x - right : 0;
      if (off < distance) { best = job; distance = off || 0.01; }
    }
    return best;
  }
  function wordsFor(job) {
    const group = job.group >= 0 ? data.groups[job.group] : null;
    const lines = [
      `${data.resources[job.row]} in ${job.environment}`,
      `${job.status}${job.kind === "deploy" ? "" : ", " + job.kind}${job.attempt > 1 ? ", attempt " + job.attempt : ""}`,
      `${clock(job.start)} to ${job.stop === null ? "still running" : clock(job.stop)} (${span(job.end - job.start)})`,
    ];
    if (job.message) lines.push(job.message);
    if (group) lines.push(`group of ${group.policy}: ${group.status}`);
    return [`${data.deployments[job.deployment]} ${job.tag}`, lines];
  }
  function choose(job, scrollThere) {
    chosen = job;
    const [title, lines] = job ? wordsFor(job) : ["", []];
    byId("chosen").textContent = job ? `${title} · ${lines.join(" · ")}` : "";
    if (job && scrollThere) {
      const n = rows.indexOf(job.row), box = byId("chart");
      if (tops[n] < box.scrollTop) box.scrollTop = tops[n];
      if (tops[n + 1] > box.scrollTop + box.clientHeight) box.scrollTop = tops[n + 1] - box.clientHeight;
      if (job.end < view[0] || job.start > view[1]) { const half = (view[1] - view[0]) / 2; look(job.start - half, job.start + half); }
    }
    drawAll();
  }
  let drag = null;
  byId("bars").addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, view: view.slice(), moved: false };
    byId("bars").setPointerCapture(event.pointerId);
  });
  byId("bars").addEventListener("pointermove", (event) => {
    const tip = byId("tip");
    if (drag) {
      const width = byId("bars").getBoundingClientRect().width - gutter;
      const by = (drag.x - event.clientX) / width * (drag.view[1] - drag.view[0]);
      if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
      if (drag.moved) { look(drag.view[0] + by, drag.view[1] + by); tip.hidden = true; return; }
    }
    const job = jobAt(event);
    tip.hidden = !job;
    if (!job) return;
    const [title, lines] = wordsFor(job);
    tip.replaceChildren(element("b", title), ...lines.map((line) => element("span", line)));
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = (event.clientY + tip.offsetHeight + 24 > innerHeight ? event.clientY - tip.offsetHeight - 12 : event.clientY + 14) + "px";
  });
  byId("bars").addEventListener("pointerup", (event) => { if (drag && !drag.moved) choose(jobAt(event), false); drag = null; });
  byId("bars").addEventListener("pointerleave", () => { byId("tip").hidden = true; });
  function wheelZoom(event) {
    event.preventDefault();
    const box = event.currentTarget.getBoundingClientRect();
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), timeAt(event.clientX - box.left, box.width));
  }
  byId("axis").addEventListener("wheel", wheelZoom, { passive: false });
  byId("bars").addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) wheelZoom(event);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); shift((event.deltaX || event.deltaY) / 800); }
  }, { passive: false });
  function overviewTo(event) {
    const box = byId("overview").getBoundingClientRect();
    const middle = whole[0] + (event.clientX - box.left - gutter) / (box.width - gutter) * (whole[1] - whole[0]);
    const half = (view[1] - view[0]) / 2;
    look(middle - half, middle + half);
  }
  byId("overview").addEventListener("pointerdown", (event) => { byId("overview").setPointerCapture(event.pointerId); overviewTo(event); });
  byId("overview").addEventListener("pointermove", (event) => { if (event.buttons) overviewTo(event); });
  byId("overview").addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8); }, { passive: false });
  byId("chart").addEventListener("scroll", drawAll);
  byId("chart").addEventListener("keydown", (event) => {
    const row = chosen ? rows.indexOf(chosen.row) : -1;
    const near = (n) => { const inside = rows[n] === undefined ? [] : jobsOfRow[rows[n]].filter((job) => job.shown); return inside.find((job) => !chosen || job.end > chosen.start) || inside[0]; };
    const along = (by) => { const inside = jobsOfRow[chosen.row].filter((job) => job.shown); return inside[inside.indexOf(chosen) + by]; };
    const act = {
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": () => look(...padded(whole)), j: () => look(...padded(working)),
      ",": () => shift(-0.2), ".": () => shift(0.2),
      ArrowDown: () => { for (let n = row + 1; n < rows.length; n++) if (near(n)) return choose(near(n), true); },
      ArrowUp: () => { for (let n = row - 1; n >= 0; n--) if (near(n)) return choose(near(n), true); },
      ArrowRight: () => { const next = chosen ? along(1) : near(0); if (next) choose(next, true); },
      ArrowLeft: () => { const next = chosen && along(-1); if (next) choose(next, true); },
      Escape: () => choose(null, false),
    }[event.key];
    if (act && !event.ctrlKey && !event.metaKey) { event.preventDefault(); act(); }
  });
  byId("zoom-in").onclick = () => zoom(0.6);
  byId("zoom-out").onclick = () => zoom(1.6);
  byId("zoom-all").onclick = () => look(...padded(whole));
  byId("zoom-jobs").onclick = () => look(...padded(working));
  byId("filter").addEventListener("input", arrange);
  byId("order").addEventListener("change", arrange);
  byId("rows").addEventListener("change", arrange);
  byId("colour").addEventListener("change", drawAll);
  addEventListener("resize", arrange);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

  /* Budgets */
  byId("budgets-section").hidden = !data.budgets.length;
  data.budgets.forEach((budget, n) => {
    const box = element("div", undefined, "budget"), line = element("p");
    line.append(element("b", budget.label), ` · peak ${budget.peak} of ${budget.limit}${budget.peakAt === null ? "" : " at " + clock(budget.peakAt)} · `, element("code", budget.scope));
    const canvas = element("canvas");
    canvas.id = "budget-" + n;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${budget.label}: peak ${budget.peak} of ${budget.limit}`);
    box.append(line, canvas);
    byId("budgets").append(box);
  });

  /* Groups */
  const PORTION = 100;
  let groupsShown = 0, wantedGroups = [];
  function fillGroups(again) {
    if (!data.groups.length) return;
    byId("groups-section").hidden = false;
    if (again) {
      const inside = new Set(rows);
      wantedGroups = data.groups.filter((group) => inside.has(group.row));
      groupsShown = 0;
      byId("groups").replaceChildren();
    }
    for (const group of wantedGroups.slice(groupsShown, groupsShown + PORTION)) {
      const row = element("tr"), members = element("td", undefined, "wide");
      group.members.forEach(([name, role, version, state], n) => {
        if (n) members.append(", ");
        members.append(`${name} ${version || "–"} `, element("em", role === "member" ? state : `${role}, ${state}`));
      });
      const opened = group.history.find(([, status]) => status === "collecting");
      const status = element("td", group.status, group.status === "failed" || group.status === "aborted" ? "bad-text" : group.status === "completed" ? "good-text" : "");
      row.append(element("td", data.resources[group.row]), element("td", group.policy), status, element("td", opened ? clock(opened[0]) : ""), element("td", clock(group.locked)), element("td", clock(group.started)), element("td", clock(group.completed)), members);
      byId("groups").append(row);
    }
    groupsShown += PORTION;
    const left = wantedGroups.length - groupsShown;
    byId("more-groups").hidden = left <= 0;
    byId("more-groups").textContent = `Show more (${left} left)`;
    byId("groups-title").textContent = `Groups (${wantedGroups.length})`;
  }
  byId("more-groups").onclick = () => fillGroups(false);

  /* Lists */
  function list(title, items, cells, isOpen) {
    if (!items.length) return;
    const box = element("details"), inside = element("ol");
    box.open = isOpen;
    box.append(element("summary", `${title} (${items.length})`), inside);
    for (const item of items.slice(0, 500)) {
      const line = element("li");
      line.append(...cells(item).map((text) => text instanceof Node ? text : element("span", text)));
      inside.append(line);
    }
    if (items.length > 500) inside.append(element("li", `and ${items.length - 500} more`));
    byId("lists").append(box);
  }
  const timed = ([at, what, text]) => [clock(at), what, text];
  const failed = data.expectations.filter(([passed]) => !passed).length;
  list(failed ? `Expectations, ${failed} not met` : "Expectations, all met", data.expectations, ([passed, name, message]) => [element("span", passed ? "met" : "NOT MET", passed ? "good-text" : "bad-text"), name, message], failed > 0);
  list("Not converged", data.waiting, ([target, state, reason]) => [state, target, reason], true);
  list("Refused", data.rejected, timed, true);
  list("Warnings", data.warnings, timed, true);
  list("Timeline", data.steps, timed, data.steps.length <= 12);

  if (data.resources.length > 100) {
    byId("order").value = "start";
    byId("rows").value = "fit";
  }
  arrange();
})();
