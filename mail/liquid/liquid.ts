import { LiquidError, analyzeSync } from 'liquidjs'
import type { Template as Node } from 'liquidjs'
import {
	contextFor,
	createOutput,
	engines,
	fallbackOperator,
	parse,
	print,
} from './liquid-engine.ts'
import './liquid-positions.ts'
import { lookUp } from './look-up.ts'
import type { Variables } from './look-up.ts'
import type { TemplateKind } from './printing.ts'
import { exceeded, renderLimits } from '../render-limits.ts'

/** A parsed template: rendering it again needs no more parsing. */
export interface Template {
	kind: TemplateKind
	nodes: Node[]
	sourceLength: number
	/** Its approximate memory, for the cache's budget. */
	weight: number
}

export interface Rendered {
	text: string
	/** The fault in rendering, in words for the customer. It never stops a mail. */
	fault: string | null
	/** Rendering was stopped before its end. */
	isTooSlow: boolean
}

/** The customer's template can't be parsed. Line and column start at 1. */
export class TemplateError extends Error {
	readonly line: number
	readonly column: number

	constructor(message: string, line: number, column: number) {
		super(message)
		this.name = 'TemplateError'
		this.line = line
		this.column = column
	}
}

const maxSubjectLength = 998
const cacheBudget = 16 * 1024 * 1024

interface Cache {
	/** A Map keeps insertion order, so the least recently used template comes first. */
	templates: Map<string, Template>
	weight: number
}

// A service sends the same few templates again and again.
const caches: Record<TemplateKind, Cache> = {
	body: { templates: new Map(), weight: 0 },
	subject: { templates: new Map(), weight: 0 },
}

/** Parses a template, or throws a TemplateError. */
export function compile(source: string, kind: TemplateKind): Template {
	const cache = caches[kind]
	const cached = cache.templates.get(source)
	if (cached) {
		cache.templates.delete(source)
		cache.templates.set(source, cached)
		return cached
	}
	const template = read(source, kind)
	// A template that would push most others out of the cache is not kept.
	if (template.weight <= cacheBudget / 8) keep(cache, source, template)
	return template
}

/**
 * Renders without throwing, unless a thread will repeat it. A part that fails prints nothing, and `fault`
 * describes it. A caller may pass `into` to see where each text comes from.
 */
export function render(
	{ kind, nodes, sourceLength }: Template,
	variables: Variables,
	into = createOutput(kind, sourceLength),
): Rendered {
	const context = contextFor(kind, variables, into)
	const { output, faults } = context
	print(engines[kind], nodes, context, output)
	// Filters may cut a surrogate pair in half, or decode a NUL.
	const text = sendable(kind === 'subject' ? oneLine(output.buffer) : output.buffer)
	const fault = faults.length > 0 ? sendable(faults.join('; ')) : null
	return { text, fault, isTooSlow: context.isTooSlow }
}

/** Neither a mail nor the database may contain half a surrogate pair or a NUL. */
export const sendable = (text: string) => text.toWellFormed().replaceAll('\0', '')

/** The variables in a template, as written: `firstName`, `order.total`. */
export function variablesOf(template: Template): string[] {
	return paths(template).map((path) => path.join('.'))
}

/** The variables in a template that have no value. */
export function unsetIn(template: Template, variables: Variables): string[] {
	return paths(template)
		.filter((path) => lookUp(variables, path) === undefined)
		.map((path) => path.join('.'))
}

/** Recognised by name, because the class is lost on the way from a thread. */
export const isTemplateError = (error: unknown): error is TemplateError =>
	error instanceof Error && error.name === 'TemplateError'

function read(source: string, kind: TemplateKind): Template {
	if (source.length > renderLimits().sourceLength) {
		const { message } = exceeded('the template is longer than 40 MB')
		throw new TemplateError(message, 1, 1)
	}
	try {
		const { nodes, tokenCount } = parse(engines[kind], source)
		const sourceLength = source.length
		return { kind, nodes, sourceLength, weight: 2 * source.length + 1000 * tokenCount }
	} catch (error) {
		if (!LiquidError.is(error)) throw error
		const { message, token } = error as LiquidError
		const [line = 1, column = 1] = token.getPosition()
		throw new TemplateError(plainMessage(message), line, column)
	}
}

/** Liquid appends the position to its messages, and knows `??` under another name. */
function plainMessage(message: string) {
	return message
		.replace(/, line:\d+, col:\d+$/, '')
		.replaceAll(`${fallbackOperator} `, '??')
		.replaceAll('\\u0001 ', '??')
}

function paths({ nodes }: Template): string[][] {
	const found = new Map<string, string[]>()
	for (const uses of Object.values(analyzeSync(nodes, { partials: false }).globals)) {
		for (const use of uses) {
			// After a segment that is itself looked up (`items[index]`), the path is unknown before rendering.
			const segments = use.toArray()
			const dynamic = segments.findIndex((segment) => typeof segment === 'object')
			const path = segments.slice(0, dynamic < 0 ? undefined : dynamic).map(String)
			if (path.length > 0) found.set(path.join('.'), path)
		}
	}
	return [...found.values()]
}

function keep(cache: Cache, source: string, template: Template) {
	cache.templates.set(source, template)
	cache.weight += template.weight
	for (const [oldest, { weight }] of cache.templates) {
		if (cache.weight <= cacheBudget) return
		cache.templates.delete(oldest)
		cache.weight -= weight
	}
}

const control = /[\p{Cc}\u2028\u2029]/u

/** A header can't contain line breaks or other controls, nor more than 998 characters. */
function oneLine(text: string) {
	// Each run is matched once. A pattern for spaces around controls would start again at each space.
	const line = text.replaceAll(/[\s\p{Cc}]+/gu, (run) => (control.test(run) ? ' ' : run)).trim()
	if (line.length <= maxSubjectLength) return line
	return line
		.slice(0, maxSubjectLength)
		.toWellFormed()
		.replace(/\ufffd$/, '')
}
