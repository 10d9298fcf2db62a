import{r as n,j as e,T as j,ag as f,S as b,V as r}from"./index-DtJOeawa.js";import{E as k}from"./editor-LZ_1fJOP.js";const y=`apiVersion: headgate.dev/v1
kind: Scenario
metadata: {name: three nodes one after the other}
spec:
  start: 2026-03-01T09:00:00Z
  objects:
    - {apiVersion: headgate.dev/v1, kind: JobAgent, metadata: {name: local}, spec: {type: exec, config: {command: "true"}}}
    - {apiVersion: headgate.dev/v1, kind: Environment, metadata: {name: prod}, spec: {resourceSelector: "true"}}
    - {apiVersion: headgate.dev/v1, kind: Deployment, metadata: {name: kubelet}, spec: {jobAgent: local, resourceSelector: "true"}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-1}, spec: {kind: Node, identifier: node-1}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-2}, spec: {kind: Node, identifier: node-2}}
    - {apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-3}, spec: {kind: Node, identifier: node-3}}
    - apiVersion: headgate.dev/v1
      kind: Policy
      metadata: {name: careful}
      spec:
        selector: "true"
        rules:
          - gradualRollout: {timeScaleInterval: 300}
  timeline:
    - at: +1m
      publish: {deployment: kubelet, tag: v1}
`,p="headgate.scenario";function E(){const[a,o]=n.useState(()=>sessionStorage.getItem(p)??y),[t,i]=n.useState(""),[c,h]=n.useState(),[g,d]=n.useState(),[l,m]=n.useState(!1);n.useEffect(()=>{a.length<1e5&&sessionStorage.setItem(p,a)},[a]);const x=async s=>{const u=s.target.files?.[0];u!==void 0&&o(await u.text())},v=async()=>{m(!0),d(void 0);try{h(await f("POST","simulate",{scenario:a,...t.trim()?{until:t.trim()}:{}}))}catch(s){d(s)}m(!1)};return e.jsxs(e.Fragment,{children:[e.jsxs("div",{className:"head",children:[e.jsx("h1",{children:"Simulate"}),e.jsxs("span",{className:"buttons",children:[e.jsxs("label",{className:"button",children:["Open a file",e.jsx("input",{type:"file",accept:".yaml,.yml",className:"hidden",onChange:s=>{x(s)}})]}),e.jsxs("label",{className:"choice",children:["until",e.jsx("input",{size:10,value:t,placeholder:"+72h",onChange:s=>i(s.target.value)})]}),e.jsx("button",{type:"button",className:"primary",disabled:l,onClick:()=>{v()},children:l?"Playing …":"Play"})]})]}),e.jsxs("section",{className:"card",children:[e.jsxs("p",{className:"soft",children:["A scenario is played in virtual time by the engine that decides here, and concerns no workspace. The command line does the same:"," ",e.jsx("code",{children:"headgate simulate scenario.yaml"})]}),e.jsx(k,{label:"The scenario in YAML",value:a,onChange:o,rows:c?8:22}),e.jsx(j,{error:g})]}),c!==void 0&&e.jsx(w,{result:c})]})}function w({result:a}){const o=()=>{const t=URL.createObjectURL(new Blob([a.page],{type:"text/html"})),i=document.createElement("a");i.href=t,i.download=`${a.scenario.replace(/[^\w-]+/g,"-").slice(0,80)||"simulation"}.html`,i.click(),setTimeout(()=>URL.revokeObjectURL(t),1e3)};return e.jsxs(b,{title:e.jsxs(e.Fragment,{children:[a.scenario," ",a.wasCut?e.jsx(r,{tone:"wait",sign:"○",word:"cut"}):a.converged?e.jsx(r,{tone:"good",sign:"✓",word:"done"}):e.jsx(r,{tone:"wait",sign:"○",word:"something waits"})]}),id:"outcome",acts:e.jsx("button",{type:"button",onClick:o,children:"Download"}),children:[a.violations.map(t=>e.jsxs("p",{className:"trouble",children:["A promise is broken: ",t]},t)),a.failedExpectations.map(t=>e.jsxs("p",{className:"trouble",children:["Expected otherwise: ",t]},t)),e.jsx("iframe",{className:"page",title:`Simulation of ${a.scenario}`,sandbox:"allow-scripts",srcDoc:a.page})]})}export{E as Simulate};
