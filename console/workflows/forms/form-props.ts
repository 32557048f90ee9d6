import { TempostError } from '../../../client/index.ts'
import type { Graph, GraphStep, Unfinished } from '../graph.ts'

export interface StepFormProps {
	step: GraphStep
	graph: Graph
	/** Replaces the settings. Changes of the same `group` in a row are undone together. */
	onConfig: (
		config: Record<string, unknown>,
		group?: string,
		unfinished?: Record<string, Unfinished>,
	) => void
	onTemplate: (templateId: string | null) => void
	/** Shown at the fields it names. */
	error: unknown
}

/** A text that was read, or why it can't be read yet. */
export type Read = { value: unknown } | Unfinished

/** A fault that is shown at its field. */
export const faultAt = (field: string, message: string) =>
	new TempostError('VALIDATION_ERROR', message, {
		fields: [{ field, message, code: 'custom' as const }],
	})

/** The unfinished settings of a step after one was typed. */
export function unfinishedAfter({ unfinished }: GraphStep, field: string, read: Read) {
	const { [field]: _, ...others } = unfinished ?? {}
	return 'message' in read ? { ...others, [field]: read } : others
}

/** Without members that are empty: the API has a default for them. */
export const withoutEmpty = (config: Record<string, unknown>) =>
	Object.fromEntries(
		Object.entries(config).filter(
			([, value]) => value !== undefined && value !== '' && value !== null,
		),
	)
