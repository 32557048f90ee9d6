import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Menu } from '../parts/menu.tsx'
import { type Graph, triggerOf } from './graph.ts'
import { type Check, faultInWords } from './use-check.ts'

interface Props {
	graph: Graph
	check: Check | undefined
	onChoose: (stepId: string | undefined) => void
}

/** How many steps have faults; each leads to its step. */
export function Problems({ graph, check, onChoose }: Props) {
	// As wide as its result, so that nothing moves when that comes.
	if (!check)
		return (
			<Badge>
				<CircleDashed size={13} aria-hidden /> Checking …
			</Badge>
		)
	const { errors, warnings } = check
	if (errors.length + warnings.length === 0)
		return (
			<Badge tone="good">
				<CircleCheck size={13} aria-hidden /> No problems
			</Badge>
		)
	const trigger = triggerOf(graph)
	const items = [
		...errors.map((fault) => ({
			name: `${fault.name ?? 'Trigger'}: ${faultInWords(fault, graph)}`,
			act: () => onChoose(fault.stepId ?? trigger?.id),
		})),
		...warnings.map(({ stepId, message }) => ({ name: message, act: () => onChoose(stepId) })),
	]
	const isBad = errors.length > 0
	const count = isBad ? errors.length : warnings.length
	const noun = isBad ? 'problem' : 'warning'
	return (
		<Menu
			trigger={
				<Button icon={isBad ? <CircleAlert size={15} /> : <TriangleAlert size={15} />}>
					{count} {noun}
					{count === 1 ? '' : 's'}
				</Button>
			}
			items={unique(items)}
		/>
	)
}

/** A menu tells its items apart by their names. */
const unique = (items: { name: string; act: () => void }[]) => [
	...new Map(items.map((item) => [item.name, item])).values(),
]
