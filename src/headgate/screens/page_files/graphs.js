"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  if (!data.graphs.length) return;
  byId("graphs").hidden = false;

  const MOST_GRAPHS = 10, MOST_ROWS = 400, DAY = 24 * 3600e3, ROW = 18, BAR = 12, AXIS = 22;
  const last = data.end + Math.max((data.end - data.start) * 0.04, 1000);
  const firstDay = Math.floor(data.start / DAY);
  const two = (n) => String(n).padStart(2, "0");
  function clock(ms) {
    const at = new Date(ms), day = Math.floor(ms / DAY) - firstDay;
    return `${day ? `Day ${day + 1} ` : ""}${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${at.getUTCSeconds() ? ":" + two(at.getUTCSeconds()) : ""}`;
  }
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  /* Neighbouring revisions lie far apart on the circle; red is left out, it means trouble elsewhere on the page. */
  function colour(revision, isReady) {
    const hue = 40 + (60 + revision * 173.05) % 280;
    return `hsl(${hue} ${isDark() ? 50 : 58}% ${isReady ? (isDark() ? 54 : 46) : (isDark() ? 30 : 80)}%)`;
  }
  function make(name, attributes, text) {
    const made = document.createElementNS(byId("svg").namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /* Columns of nodes, each one to the right of what it depends on, with the revision that most of its objects are at. */
  function picture(graph) {
    const nodes = Object.keys(graph.edges);
    if (!nodes.length) return null;
    const column = {};
    for (const node of nodes) column[node] = 1 + Math.max(-1, ...graph.edges[node].map((after) => column[after] ?? -1));
    const places = {}, filled = [];
    for (const node of nodes) {
      const at = column[node];
      filled[at] = (filled[at] ?? 0) + 1;
      places[node] = [12 + at * 210, 10 + (filled[at] - 1) * 46];
    }
    const width = 24 + (Math.max(...Object.values(column)) + 1) * 210, height = 12 + Math.max(...filled) * 46;
    const svg = make("svg", { width, height, role: "img", "aria-label": `The graph of ${graph.name}` });
    for (const node of nodes) for (const after of graph.edges[node]) {
      if (!places[after]) continue;
      const [x1, y1] = places[after], [x2, y2] = places[node];
      svg.append(make("path", { class: "edge", d: `M${x1 + 170},${y1 + 17} C${x1 + 190},${y1 + 17} ${x2 - 20},${y2 + 17} ${x2},${y2 + 17}` }));
    }
    for (const node of nodes) {
      const [left, top] = places[node], rows = graph.rows.filter((row) => row[0] === node && row[4] === null);
      const counts = new Map();
      for (const row of rows) { const at = row[2][row[2].length - 1][1]; counts.set(at, (counts.get(at) ?? 0) + 1); }
      svg.append(make("rect", { class: "node", x: left, y: top, width: 170, height: 34 }));
      svg.append(make("text", { x: left + 10, y: top + 14 }, node.length > 22 ? node.slice(0, 21) + "…" : node));
      const said = rows.length ? [...counts].sort((a, b) => a[0] - b[0]).map(([at, count]) => `${count > 1 || rows.length > 1 ? count + " written at " : "written at "}r${at}`).join(", ") : "no object of its own";
      svg.append(make("text", { x: left + 10, y: top + 28, class: "soft" }, said));
      const newest = Math.max(0, ...counts.keys());
      if (newest) svg.append(make("rect", { x: left, y: top, width: 4, height: 34, fill: colour(newest, true) }));
    }
    const box = document.createElement("div");
    box.className = "nodes";
    box.append(svg);
    return box;
  }

  function bars(graph, width) {
    const rows = graph.rows.slice(0, MOST_ROWS), label = Math.min(260, 30 + 7 * Math.max(...rows.map((row) => row[1].length)));
    const x = (ms) => label + (ms - data.start) / (last - data.start) * (width - label - 8);
    let lines = 0, node = null;
    for (const row of rows) { if (row[0] !== node) { node = row[0]; lines++; } lines++; }
    const height = AXIS + lines * ROW + 4, svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `Objects of ${graph.name} over time` });
    const STEPS = [60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000].map((seconds) => seconds * 1000);
    const size = STEPS.find((step) => (last - data.start) / step <= (width - label) / 100) || STEPS[STEPS.length - 1];
    for (let at = Math.ceil(data.start / size) * size; at <= last; at += size) {
      svg.append(make("line", { class: "grid", x1: x(at), x2: x(at), y1: AXIS - 4, y2: height }));
      if (x(at) < width - 40) svg.append(make("text", { class: "soft", x: x(at) + 3, y: AXIS - 8 }, clock(at)));
    }
    let y = AXIS;
    node = null;
    for (const row of rows) {
      if (row[0] !== node) {
        node = row[0];
        svg.append(make("text", { x: 4, y: y + 13, "font-weight": 600 }, node));
        y += ROW;
      }
      svg.append(make("text", { class: "soft", x: 16, y: y + 13 }, row[1]));
      const [, name, writes, unready, deleted] = row, end = deleted === null ? last : deleted;
      writes.forEach(([from, revision], number) => {
        const to = number + 1 < writes.length ? writes[number + 1][0] : end;
        const bar = make("rect", { x: x(from), y: y + 3, width: Math.max(x(to) - x(from), 1), height: BAR, fill: colour(revision, true) });
        const said = `${name}, revision ${revision}: written ${clock(from)}`;
        bar.append(make("title", {}, said));
        bar.addEventListener("mouseenter", () => { byId("graph-chosen").textContent = said; });
        svg.append(bar);
        for (const [since, until] of unready) {
          const low = Math.max(since, from), high = Math.min(until === null ? end : until, to);
          if (low >= high) continue;
          const cover = make("rect", { x: x(low), y: y + 3, width: Math.max(x(high) - x(low), 1), height: BAR, fill: colour(revision, false) });
          cover.append(make("title", {}, `${name}, revision ${revision}: not ready from ${clock(low)} to ${clock(high)}`));
          svg.append(cover);
        }
        if (x(to) - x(from) > 26) {
          const text = make("text", { x: x(from) + 4, y: y + 13, "font-size": 10 }, `r${revision}`);
          text.style.fill = isDark() ? "#10151d" : "#ffffff";
          text.style.pointerEvents = "none";
          svg.append(text);
        }
      });
      y += ROW;
    }
    return svg;
  }

  function show() {
    const wanted = byId("graph-instance").value, charts = byId("graph-charts");
    charts.replaceChildren();
    const shown = wanted === "" ? data.graphs.slice(0, MOST_GRAPHS) : data.graphs.filter((graph) => graph.name === wanted);
    for (const graph of shown) {
      const box = document.createElement("div"), title = document.createElement("h3");
      box.className = "graph";
      title.textContent = graph.name;
      charts.append(box);
      const nodes = picture(graph);
      box.append(title, ...(nodes ? [nodes] : []), bars(graph, Math.max(600, box.clientWidth)));
      if (graph.rows.length > MOST_ROWS) box.append(`and ${graph.rows.length - MOST_ROWS} more objects`);
    }
    const legend = byId("graph-legend");
    legend.replaceChildren();
    const item = (text, paint) => {
      const mark = document.createElement("i"), label = document.createElement("span");
      mark.style.background = paint;
      label.append(mark, text);
      legend.append(label);
    };
    const most = Math.min(12, Math.max(...shown.map((graph) => graph.revisions), 1));
    for (let revision = 1; revision <= most; revision++) item(`revision ${revision}`, colour(revision, true));
    item("written, not ready", colour(1, false));
  }

  for (const graph of data.graphs) byId("graph-instance").append(new Option(graph.name, graph.name));
  byId("graph-instance").addEventListener("change", show);
  addEventListener("resize", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
})();
