import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import Type, { type TProperties } from 'typebox'
import { invalid } from '../errors.ts'
import type { ProjectOfKey } from '../../db/projects/project-keys.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { bodyFaults } from '../requests/validation.ts'
import type { Confirmations } from './confirmations.ts'
import type { AskRoute } from './route-calls.ts'

/** The request that a tool runs for, and what the tool may use. */
export interface ToolContext {
	/** Calls a route of ours with the key of the caller. */
	ask: AskRoute
	project: ProjectOfKey
	em: EntityManager
	pool: Pool
	publicUrl: string
	confirmations: Confirmations
}

export interface ToolResult {
	/** One or two sentences for the model. It never contains texts that other people wrote. */
	text: string
	data: object
}

/** See ToolAnnotations of the protocol: clients ask their user before some acts. */
export const reading = {
	readOnlyHint: true,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
}
/** A second identical call changes nothing more. */
export const saving = {
	readOnlyHint: false,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
}
export const adding = { ...saving, idempotentHint: false }
/** Its mail can't be taken back. */
export const mailing = {
	readOnlyHint: false,
	destructiveHint: true,
	idempotentHint: false,
	openWorldHint: true,
}
export const destroying = { ...saving, destructiveHint: true }

interface Definition<T extends TProperties> {
	name: string
	title: string
	/** When to use the tool, and what its result contains. */
	description: string
	annotations: typeof reading
	input: T
	run(given: Type.Static<Type.TObject<T>>, context: ToolContext): Promise<ToolResult>
}

export interface Tool extends Omit<Definition<TProperties>, 'input' | 'run'> {
	inputSchema: { type: 'object' } & Record<string, unknown>
	run(given: unknown, context: ToolContext): Promise<ToolResult>
}

/**
 * A tool whose input is checked as the body of a route is, and reported in the same words. Unknown members
 * are refused, because a misspelt filter would select more.
 */
export function defineTool<T extends TProperties>(definition: Definition<T>): Tool {
	const { input, run, ...described } = definition
	const schema = Type.Object(input, { additionalProperties: false })
	const faultsOf = bodyFaults(schema)
	return {
		...described,
		inputSchema: shown(schema) as Tool['inputSchema'],
		async run(given, context) {
			const faults = faultsOf(given)
			if (faults.length > 0) throw invalid(...fieldErrors(faults))
			return run(given as Type.Static<Type.TObject<T>>, context)
		},
	}
}

/** Keywords for our validator and our document, which models don't need. */
const ours = new Set(['title', 'examples', 'x-message', 'x-resource', 'x-documented'])

/** The schema as plain JSON Schema. A member with that name in `properties` is no keyword. */
function shown(schema: unknown): unknown {
	if (Array.isArray(schema)) return schema.map(shown)
	if (typeof schema !== 'object' || schema === null) return schema
	const entries = Object.entries(schema).flatMap(([keyword, value]) => {
		if (ours.has(keyword)) return []
		if (keyword !== 'properties') return [[keyword, shown(value)]]
		const members = Object.entries(value as object).map(([name, one]) => [name, shown(one)])
		return [[keyword, Object.fromEntries(members)]]
	})
	return Object.fromEntries(entries)
}
