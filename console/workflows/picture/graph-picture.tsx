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
import { placesOf } from './layout.ts'
import { type Mark, type Picture, PictureContext } from './picture-context.ts'
import styles from './picture.module.css'
import { type StepNode, StepNodeView } from './step-node.tsx'
import { useStepKeys } from './use-step-keys.ts'
import { bringIntoView, show } from './viewport.ts'
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
	/** Its reader has chosen what is in view. */
	const isMoved = useRef(false)
	const noteMove = () => {
		isMoved.current = true
	}
	const bring = useCallback(
		(stepId: string | undefined) => {
			const place = stepId && places.get(stepId)
			if (place && instance.current && frame.current)
				bringIntoView(instance.current, frame.current, place)
		},
		[places],
	)
	const onKeyDown = useStepKeys(frame, graph, bring)
	const picture = useMemo(
		(): Picture => ({ marks, summaries, chosen, onChoose, onAdd: edit?.add, walked }),
		[marks, summaries, chosen, onChoose, edit?.add, walked],
	)
	useEffect(() => bring(chosen), [chosen, bring])
	// A panel beside it opens or closes.
	useEffect(() => {
		const observer = new ResizeObserver(() => {
			if (instance.current && !isMoved.current) show(instance.current, frame.current!, places)
			bring(chosen)
		})
		observer.observe(frame.current!)
		return () => observer.disconnect()
	}, [places, bring, chosen])
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
				onKeyDown={onKeyDown}
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
						// It may be gone by now.
						if (frame.current) show(started, frame.current, places)
					}}
					// Moves by code have no event.
					onMoveEnd={(event) => event && noteMove()}
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
					<Controls
						position="top-right"
						showInteractive={false}
						onZoomIn={noteMove}
						onZoomOut={noteMove}
						onFitView={noteMove}
					/>
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
