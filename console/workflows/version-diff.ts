import type { Mark } from './picture/picture-context.ts'
import { branchesOf, type Graph, type GraphStep, inOrder, wayFrom } from './graph.ts'
import { branchInWords, type Names, summaryOf, triggerInWords } from './step-words.ts'

export interface Difference {
	/** Absent: of the workflow as a whole. */
	stepId?: string
	name: string
	kind: 'added' | 'removed' | 'changed'
	/** What is different, in words. */
	changes: string[]
}

/** What one version has that another has not, in the order of the later one. */
export function differencesOf(before: Graph, after: Graph, names: Names): Difference[] {
	const old = new Map(before.steps.map((step) => [step.id, step]))
	const kept = new Set(after.steps.map(({ id }) => id))
	const whole = wholeChanges(before, after, names)
	return [
		...(whole.length > 0
			? [{ name: 'The workflow', kind: 'changed' as const, changes: whole }]
			: []),
		...inOrder(after).flatMap((step): Difference[] => {
			const { id, name } = step
			const earlier = old.get(id)
			if (!earlier)
				return [{ stepId: id, name, kind: 'added', changes: [summaryOf(step, after, names)] }]
			const changes = stepChanges({ before, after, names }, earlier, step)
			return changes.length > 0 ? [{ stepId: id, name, kind: 'changed', changes }] : []
		}),
		...inOrder(before)
			.filter(({ id }) => !kept.has(id))
			.map((step): Difference => ({
				stepId: step.id,
				name: step.name,
				kind: 'removed',
				changes: [summaryOf(step, before, names)],
			})),
	]
}

interface Pair {
	before: Graph
	after: Graph
	names: Names
}

function wholeChanges(before: Graph, after: Graph, names: Names) {
	const [from, to] = [triggerInWords(before.trigger, names), triggerInWords(after.trigger, names)]
	return [
		...(from === to ? [] : [`Starts: ${from} → ${to}`]),
		...(before.allowReentry === after.allowReentry
			? []
			: [after.allowReentry ? 'A contact may enter again' : 'A contact enters only once']),
	]
}

function stepChanges({ before, after, names }: Pair, old: GraphStep, step: GraphStep): string[] {
	const changes: string[] = []
	if (old.name !== step.name) changes.push(`Name: ${old.name} → ${step.name}`)
	if (step.type !== 'TRIGGER') {
		const [from, to] = [summaryOf(old, before, names), summaryOf(step, after, names)]
		if (from !== to) changes.push(`${from} → ${to}`)
		else changes.push(...settingChanges(old.config, step.config))
	}
	return [...changes, ...wayChanges(before, after, old, step)]
}

/** Settings that the summary of a step does not show. */
function settingChanges(old: Record<string, unknown>, config: Record<string, unknown>) {
	const members = new Set([...Object.keys(old), ...Object.keys(config)])
	return [...members].flatMap((member) => {
		const [from, to] = [inBrief(old[member]), inBrief(config[member])]
		return from === to ? [] : [`${member}: ${from} → ${to}`]
	})
}

const inBrief = (value: unknown) =>
	value === undefined || value === null
		? 'none'
		: typeof value === 'string'
			? value
			: JSON.stringify(value)

function wayChanges(before: Graph, after: Graph, old: GraphStep, step: GraphStep) {
	const target = (graph: Graph, id: string, branch: string | null) => {
		const to = wayFrom(graph, id, branch)?.toStepId
		return to && { id: to, name: graph.steps.find((one) => one.id === to)?.name ?? '' }
	}
	const branches = new Set([...branchesOf(old), ...branchesOf(step)])
	return [...branches].flatMap((branch) => {
		const [from, to] = [target(before, old.id, branch), target(after, step.id, branch)]
		if ((from && from.id) === (to && to.id)) return []
		const name = branchInWords(branchesOf(step).includes(branch) ? step : old, branch)
		const nameOf = (one: typeof to) => (one ? `“${one.name}”` : 'the end')
		return [`${name ? `If ${name}, leads to` : 'Leads to'}: ${nameOf(from)} → ${nameOf(to)}`]
	})
}

const tones = { added: 'good', removed: 'bad', changed: 'warn' } as const
export const kindNames = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const
export const toneOf = (kind: Difference['kind']) => tones[kind]

/** The colours of one side of a comparison. */
export const marksOf = (differences: Difference[]) =>
	new Map(
		differences.flatMap(({ stepId, kind }): [string, Mark][] =>
			stepId ? [[stepId, { tone: tones[kind], note: kindNames[kind] }]] : [],
		),
	)
