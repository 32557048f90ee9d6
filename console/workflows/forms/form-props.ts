import type { Graph, GraphStep } from '../graph.ts'

export interface StepFormProps {
	step: GraphStep
	graph: Graph
	/** Replaces the settings. Changes of the same `group` in a row are undone together. */
	onConfig: (config: Record<string, unknown>, group?: string) => void
	onTemplate: (templateId: string | null) => void
	/** Shown at the fields it names. */
	error: unknown
}

/** Without members that are empty: the API has a default for them. */
export const withoutEmpty = (config: Record<string, unknown>) =>
	Object.fromEntries(
		Object.entries(config).filter(
			([, value]) => value !== undefined && value !== '' && value !== null,
		),
	)

export const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
