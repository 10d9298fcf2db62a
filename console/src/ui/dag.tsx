// The nodes of a graph by what they depend on. Large: loaded with the page that draws it.
import dagre from "@dagrejs/dagre";
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, type ReactNode, useMemo } from "react";
import type { GraphNode, Tree } from "../api/types";
import { signOf, toneOf } from "./tree";

const WIDTH = 230;
const HEIGHT = 78;
const STRIP = 26;

interface Drawn extends Record<string, unknown> {
  node: GraphNode;
  tree: Tree | undefined;
}

export function laidOut(nodes: GraphNode[], tree: Tree | undefined): { nodes: Node<Drawn>[]; edges: Edge[] } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 60 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(nodes.map((node) => node.id));
  const height = (node: GraphNode): number => HEIGHT + (node.isCollection ? STRIP : 0);
  for (const node of nodes) graph.setNode(node.id, { width: WIDTH, height: height(node) });
  const edges: Edge[] = [];
  for (const node of nodes) {
    for (const from of node.dependsOn.filter((id) => ids.has(id) && id !== node.id)) {
      graph.setEdge(from, node.id);
      edges.push({ id: `${from} ${node.id}`, source: from, target: node.id });
    }
  }
  dagre.layout(graph);
  const drawn = nodes.map((node): Node<Drawn> => {
    const { x, y } = graph.node(node.id);
    return {
      id: node.id,
      type: "graphNode",
      position: { x: x - WIDTH / 2, y: y - height(node) / 2 },
      data: { node, tree: tree?.children.find((one) => one.subject === node.id) },
      draggable: false,
      connectable: false,
      ariaLabel: `${node.id}, ${node.kind}`,
    };
  });
  return { nodes: drawn, edges };
}

const One = memo(function One({ data }: NodeProps<Node<Drawn>>): ReactNode {
  const { node, tree } = data;
  const state = tree?.state ?? "";
  const blocking = tree?.lines.find((line) => line.verdict !== "allowed");
  return (
    <div className={`member dagnode ${state ? toneOf(state) : "quiet"}`} title={[blocking?.message, ...node.propagateWhen].filter(Boolean).join("\n")}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <b>{node.id}</b>
      <span>
        {node.kind} {tree?.part?.revision != null && <small>r{tree.part.revision}</small>} {state && <>{signOf(state)} {state}</>}
      </span>
      <span className="soft">{blocking?.message ?? (node.propagateWhen.length > 0 ? `gate: ${node.propagateWhen.join(" && ")}` : "")}</span>
      {node.isCollection && tree !== undefined && <Strip items={tree.children} />}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

/** Items of a collection in their order: waves show as what is done, what moves and what waits. */
export function Strip({ items }: { items: Tree[] }): ReactNode {
  return (
    <span className="strip" role="img" aria-label={items.map((one) => `${one.subject}: ${one.state}`).join(", ").slice(0, 500)}>
      {items.slice(0, 200).map((one) => (
        <i key={one.subject} className={toneOf(one.state)} title={`${one.subject}: ${one.state}`} />
      ))}
    </span>
  );
}

const TYPES = { graphNode: One };

export default function Dag({ nodes, tree }: { nodes: GraphNode[]; tree: Tree | undefined }): ReactNode {
  const drawn = useMemo(() => laidOut(nodes, tree), [nodes, tree]);
  return (
    <div className="dag">
      <ReactFlow
        nodes={drawn.nodes}
        edges={drawn.edges}
        nodeTypes={TYPES}
        fitView
        minZoom={0.1}
        maxZoom={1.5}
        fitViewOptions={{ maxZoom: 1 }}
        nodesFocusable
        elementsSelectable={false}
        edgesFocusable={false}
        proOptions={{ hideAttribution: true }}
        aria-label="Nodes by what they depend on"
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}
