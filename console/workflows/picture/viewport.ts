import type { ReactFlowInstance } from '@xyflow/react'
import { nodeHeight, type Place } from './layout.ts'
import type { StepNode } from './step-node.tsx'
import type { WayEdge } from './way-edge.tsx'

type Instance = ReactFlowInstance<StepNode, WayEdge>

/** All of it if that can be read, else its beginning. */
export function show(instance: Instance, frame: HTMLElement, places: ReadonlyMap<string, Place>) {
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
/** Of the buttons for zooming, at the right edge. */
const controlsWidth = 48

/** Moves the picture no more than needed. Its frame may just have become smaller, which React Flow notices later. */
export function bringIntoView(instance: Instance, frame: HTMLElement, { x, y, width }: Place) {
	const { zoom, ...view } = instance.getViewport()
	const moved = {
		x: within(view.x, x * zoom, (x + width) * zoom, frame.clientWidth - controlsWidth),
		y: within(view.y, y * zoom, (y + nodeHeight) * zoom, frame.clientHeight),
	}
	if (moved.x !== view.x || moved.y !== view.y)
		void instance.setViewport({ ...moved, zoom }, { duration: 200 })
}

function within(shift: number, start: number, end: number, size: number) {
	if (end - start > size - 2 * margin) return margin - start
	return Math.min(Math.max(shift, margin - start), size - margin - end)
}
