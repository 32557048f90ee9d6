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
import { lookUp } from './look-up.ts'
import type { Variables } from './look-up.ts'
import type { TemplateKind } from './printing.ts'
import { exceeded, renderLimits } from './render-limits.ts'
import { storableText } from './storable-text.ts'

/** A template that has been read: rendering it any number of times costs no more parsing. */
export interface Template {
	kind: TemplateKind
	nodes: Node[]
	sourceLength: number
	/** Roughly what it holds on to, for the cache's budget. */
	weight: number
}

export interface Rendered {
	text: string
	/** What went wrong while rendering, in words for the customer; it never stops a mail. */
	fault: string | null
	/** It was stopped before its end. */
	isTooSlow: boolean
}

/** The customer's template cannot be read. Line and column begin at 1. */
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
	/** A Map keeps them in their order: the one used longest ago comes first. */
	templates: Map<string, Template>
	weight: number
}

// A service sends the same few templates over and over.
const caches: Record<TemplateKind, Cache> = {
	body: { templates: new Map(), weight: 0 },
	subject: { templates: new Map(), weight: 0 },
}

/** Reads a template or throws a TemplateError. */
export function compile(source: string, kind: TemplateKind): Template {
	const cache = caches[kind]
	const cached = cache.templates.get(source)
	if (cached) {
		cache.templates.delete(source)
		cache.templates.set(source, cached)
		return cached
	}
	const template = read(source, kind)
	// What would push out most of the others is not worth keeping.
	if (template.weight <= cacheBudget / 8) keep(cache, source, template)
	return template
}

/**
 * Renders without ever throwing: what fails prints nothing and is told in `fault`. Prints to `into`,
 * if somebody wants to know what comes from where.
 */
export function render(
	{ kind, nodes, sourceLength }: Template,
	variables: Variables,
	into = createOutput(kind, sourceLength),
): Rendered {
	const rendering = contextFor(kind, variables, into)
	const { context, output, faults } = rendering
	print(engines[kind], nodes, context, output)
	// Filters may cut a character in halves, or decode a NUL.
	const text = storableText(kind === 'subject' ? oneLine(output.buffer) : output.buffer)
	const fault = faults.length > 0 ? storableText(faults.join('; ')) : null
	return { text, fault, isTooSlow: rendering.isTooSlow }
}

/** What a template asks for, as written: `firstName`, `order.total`. */
export function variablesOf(template: Template): string[] {
	return paths(template).map((path) => path.join('.'))
}

/** Those a template asks for and would not get. */
export function unsetIn(template: Template, variables: Variables): string[] {
	return paths(template)
		.filter((path) => lookUp(variables, path) === undefined)
		.map((path) => path.join('.'))
}

/** By its name it is known beyond its thread, too. */
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

/** Liquid appends the position to its messages, and knows `??` by another name. */
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
			// A segment that is itself looked up (`items[index]`) ends what can be known beforehand.
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

/** A header cannot hold line breaks or other controls, nor more than 998 characters. */
function oneLine(text: string) {
	// Each run is looked at once: a search for what stands around a control would begin anew at each space.
	const line = text.replaceAll(/[\s\p{Cc}]+/gu, (run) => (control.test(run) ? ' ' : run)).trim()
	if (line.length <= maxSubjectLength) return line
	return line
		.slice(0, maxSubjectLength)
		.toWellFormed()
		.replace(/\ufffd$/, '')
}
