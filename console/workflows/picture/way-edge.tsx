import {
	BaseEdge,
	type Edge,
	EdgeLabelRenderer,
	type EdgeProps,
	getSmoothStepPath,
} from '@xyflow/react'
import { Plus } from 'lucide-react'
import { memo } from 'react'
import { keyOf } from '../graph.ts'
import { usePicture } from './picture-context.ts'
import styles from './picture.module.css'

export type WayEdgeData = {
	branch: string | null
	/** The branch in words; empty if the step has only one way on. */
	name: string
	from: string
	to: string
}
export type WayEdge = Edge<WayEdgeData, 'way'>

export const WayEdgeView = memo(function WayEdgeView(props: EdgeProps<WayEdge>) {
	const { id, source, data, sourceX, sourceY, targetX, targetY, markerEnd } = props
	const { onAdd, walked } = usePicture()
	const [path] = getSmoothStepPath({ ...props, borderRadius: 12, offset: 24 })
	if (!data) return null
	const { branch, name, from, to } = data
	const isWalked = walked?.has(`${keyOf({ fromStepId: source, branch })} ${props.target}`)
	// Below the step it leaves, where branches have not met other ways yet.
	const y = sourceY + 10
	return (
		<>
			<BaseEdge
				id={id}
				path={path}
				className={`${styles.way} ${isWalked ? styles.walked : ''}`}
				{...(markerEnd && { markerEnd })}
			/>
			{(name || onAdd) && (
				<EdgeLabelRenderer>
					<span
						className={`${styles.onWay} nodrag nopan`}
						style={{ transform: `translate(-50%, 0) translate(${sourceX}px, ${y}px)` }}
					>
						{name && <span className={styles.label}>{name}</span>}
						{onAdd && (
							<button
								type="button"
								className={styles.add}
								aria-label={`Add a step between ${from} and ${to}${name && `, ${name}`}`}
								title="Add a step here"
								onClick={() => onAdd({ stepId: source, branch })}
							>
								<Plus size={14} />
							</button>
						)}
					</span>
				</EdgeLabelRenderer>
			)}
			{/* Keeps the end of a loop visible. */}
			{targetY < sourceY && <circle cx={targetX} cy={targetY} r={3} className={styles.loop} />}
		</>
	)
})
