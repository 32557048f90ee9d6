import {
	Background,
	type Connection,
	Controls,
	ReactFlow,
	type ReactFlowInstance,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './controls.css'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import type { Graph } from '../graph.ts'
import type { Opening } from '../graph-edits.ts'
import { elementsOf } from './elements.ts'
import { nodeHeight, type Place, placesOf } from './layout.ts'
import { type Mark, type Picture, PictureContext } from './picture-context.ts'
import styles from './picture.module.css'
import { type StepNode, StepNodeView } from './step-node.tsx'
import { type WayEdge, WayEdgeView } from './way-edge.tsx'

interface Props {
	name: string
	graph: Graph
	summaries: ReadonlyMap<string, string>
	marks?: ReadonlyMap<string, Mark>
	chosen?: string | undefined
	onChoose?: (stepId: string) => void
	walked?: ReadonlySet<string>
	/** Absent: the picture is only looked at. */
	edit?: {
		add: (opening: Opening) => void
		connect: (opening: Opening, toStepId: string) => void
	}
}

const nodeTypes = { step: StepNodeView }
const edgeTypes = { way: WayEdgeView }
const noMarks = new Map<string, Mark>()

/** A workflow as a picture. It moves by dragging and scrolling; Ctrl and the wheel zoom. */
export default function GraphPicture(props: Props) {
	const { name, graph, summaries, marks = noMarks, chosen, onChoose, walked, edit } = props
	const shape = shapeOf(graph)
	// Words of a step do not move it.
	const places = useMemo(() => placesOf(graph), [shape])
	const { nodes, edges } = useMemo(() => elementsOf(graph, places), [graph, places])
	const instance = useRef<ReactFlowInstance<StepNode, WayEdge>>(null)
	const frame = useRef<HTMLDivElement>(null)
	const picture = useMemo(
		(): Picture => ({ marks, summaries, chosen, onChoose, onAdd: edit?.add, walked }),
		[marks, summaries, chosen, onChoose, edit?.add, walked],
	)
	useEffect(() => {
		const place = chosen && places.get(chosen)
		if (place && instance.current) bringIntoView(instance.current, frame.current!, place)
	}, [chosen, places])
	const connect = edit?.connect
	const onConnect = useCallback(
		({ source, sourceHandle, target }: Connection) =>
			connect?.({ stepId: source, branch: branchOf(sourceHandle) }, target),
		[connect],
	)
	return (
		<PictureContext value={picture}>
			<div
				ref={frame}
				className={styles.picture}
				role="group"
				aria-label={name}
				data-editable={edit !== undefined}
			>
				<ReactFlow
					nodes={nodes}
					edges={edges}
					nodeTypes={nodeTypes}
					edgeTypes={edgeTypes}
					onConnect={onConnect}
					isValidConnection={isValid}
					onInit={(started) => {
						instance.current = started
						show(started, frame.current!, places)
					}}
					onlyRenderVisibleElements
					nodesDraggable={false}
					nodesFocusable={false}
					edgesFocusable={false}
					elementsSelectable={false}
					nodesConnectable={edit !== undefined}
					connectOnClick={false}
					connectionRadius={50}
					panOnScroll
					minZoom={0.1}
					maxZoom={1.5}
					deleteKeyCode={null}
					proOptions={{ hideAttribution: true }}
				>
					<Background gap={20} />
					<Controls showInteractive={false} />
				</ReactFlow>
			</div>
		</PictureContext>
	)
}

const shapeOf = ({ steps, ways }: Graph) =>
	JSON.stringify([
		steps.map(({ id, type, config }) => [id, type, config['mode'], config['branches']]),
		ways,
	])

const branchOf = (handle: string | null) => (handle === 'next' ? null : handle)
const isValid = ({ source, target }: Pick<Connection, 'source' | 'target'>) => source !== target

type Instance = ReactFlowInstance<StepNode, WayEdge>

/** All of it if that can be read, else its beginning. */
function show(instance: Instance, frame: HTMLElement, places: ReadonlyMap<string, Place>) {
	const all = [...places.values()]
	const width = Math.max(...all.map((place) => place.x + place.width))
	const height = Math.max(...all.map((place) => place.y + nodeHeight + 40))
	const { clientWidth, clientHeight } = frame
	const zoom = Math.min(1, (clientWidth - 32) / width, (clientHeight - 32) / height)
	const first = all.toSorted((one, other) => one.y - other.y)[0]
	if (!first) return
	if (zoom >= 0.7) void instance.setViewport({ x: (clientWidth - width * zoom) / 2, y: 16, zoom })
	else {
		const x = clientWidth / 2 - (first.x + first.width / 2) * 0.85
		void instance.setViewport({ x, y: 16, zoom: 0.85 })
	}
}

const margin = 24

/** Moves the picture no more than needed. Its frame may just have become smaller, which React Flow notices later. */
function bringIntoView(instance: Instance, frame: HTMLElement, { x, y, width }: Place) {
	const { zoom, ...view } = instance.getViewport()
	const moved = {
		x: within(view.x, x * zoom, (x + width) * zoom, frame.clientWidth),
		y: within(view.y, y * zoom, (y + nodeHeight) * zoom, frame.clientHeight),
	}
	if (moved.x !== view.x || moved.y !== view.y)
		void instance.setViewport({ ...moved, zoom }, { duration: 200 })
}

function within(shift: number, start: number, end: number, size: number) {
	if (end - start > size - 2 * margin) return margin - start
	return Math.min(Math.max(shift, margin - start), size - margin - end)
}
