import{r as i,j as e,T as S,av as N,S as E,Z as m}from"./index-DwLv64DE.js";import{E as R}from"./editor-wT_sEN2a.js";const T=`apiVersion: headgate.dev/v1
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
`,x="headgate.scenario";function O(t){const o=([,n])=>/^\s*"?kind"?:\s*"?Scenario\b/m.test(n),a=t.find(o);return{scenario:a?.[1],others:t.filter(n=>n!==a)}}function A(){const[t,o]=i.useState(()=>sessionStorage.getItem(x)??T),[a,n]=i.useState({}),[l,j]=i.useState(""),[d,b]=i.useState(),[v,u]=i.useState(),[h,p]=i.useState(!1);i.useEffect(()=>{t.length<1e5&&sessionStorage.setItem(x,t)},[t]);const f=async s=>{const g=await Promise.all([...s.target.files??[]].map(async c=>[c.name,await c.text()]));s.target.value="";const{scenario:r,others:w}=O(g);r!==void 0&&o(r),n(c=>({...c,...Object.fromEntries(w)}))},k=s=>n(({[s]:g,...r})=>r),y=async()=>{p(!0),u(void 0);try{b(await N("POST","simulate",{scenario:t,files:a,...l.trim()?{until:l.trim()}:{}}))}catch(s){u(s)}p(!1)};return e.jsxs(e.Fragment,{children:[e.jsxs("div",{className:"head",children:[e.jsx("h1",{children:"Simulate"}),e.jsxs("span",{className:"buttons",children:[e.jsxs("label",{className:"button",children:["Open files",e.jsx("input",{type:"file",multiple:!0,accept:".yaml,.yml,.json",className:"hidden",onChange:s=>{f(s)}})]}),e.jsxs("label",{className:"choice",children:["until",e.jsx("input",{size:10,value:l,placeholder:"+72h",onChange:s=>j(s.target.value)})]}),e.jsx("button",{type:"button",className:"primary",disabled:h,onClick:()=>{y()},children:h?"Playing …":"Play"})]})]}),e.jsxs("section",{className:"card",children:[e.jsxs("p",{className:"soft",children:["A scenario is played in virtual time by the engine that decides here, and concerns no workspace. The command line does the same:"," ",e.jsx("code",{children:"headgate simulate scenario.yaml"}),". Files that it names under ",e.jsx("code",{children:"files"})," are opened too, together with it or afterwards."]}),Object.keys(a).length>0&&e.jsxs("p",{className:"links","aria-label":"Files beside the scenario",children:["With"," ",Object.keys(a).map(s=>e.jsxs("span",{className:"badge",children:[s," ",e.jsx("button",{type:"button",className:"quiet","aria-label":`Without ${s}`,onClick:()=>k(s),children:"✕"})]},s))]}),e.jsx(R,{label:"The scenario in YAML",value:t,onChange:o,rows:d?8:22}),e.jsx(S,{error:v})]}),d!==void 0&&e.jsx(V,{result:d})]})}function V({result:t}){const o=()=>{const a=URL.createObjectURL(new Blob([t.page],{type:"text/html"})),n=document.createElement("a");n.href=a,n.download=`${t.scenario.replace(/[^\w-]+/g,"-").slice(0,80)||"simulation"}.html`,n.click(),setTimeout(()=>URL.revokeObjectURL(a),1e3)};return e.jsxs(E,{title:e.jsxs(e.Fragment,{children:[t.scenario," ",t.wasCut?e.jsx(m,{tone:"wait",sign:"○",word:"cut"}):t.converged?e.jsx(m,{tone:"good",sign:"✓",word:"done"}):e.jsx(m,{tone:"wait",sign:"○",word:"something waits"})]}),id:"outcome",acts:e.jsx("button",{type:"button",onClick:o,children:"Download"}),children:[t.violations.map(a=>e.jsxs("p",{className:"trouble",children:["A promise is broken: ",a]},a)),t.failedExpectations.map(a=>e.jsxs("p",{className:"trouble",children:["Expected otherwise: ",a]},a)),e.jsx("iframe",{className:"page",title:`Simulation of ${t.scenario}`,sandbox:"allow-scripts",srcDoc:t.page})]})}export{A as Simulate,O as sorted};
