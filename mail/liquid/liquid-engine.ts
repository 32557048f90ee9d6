import {
	Liquid,
	ParseError,
	Parser,
	TagToken,
	TokenKind,
	Tokenizer,
	TypeGuards,
	UndefinedVariableError,
	toValue,
	toValueSync,
} from 'liquidjs'
import type { Context, Emitter, Template as Node, Token } from 'liquidjs'
import {
	LimitedCycle,
	chargeMemory,
	limitFilters,
	limitedOperators,
	printable,
	step,
	tooSlow,
} from './liquid-limits.ts'
import type { Variables } from './look-up.ts'
import { asText, escapeBody, isMarkup, markup } from './printing.ts'
import type { TemplateKind } from './printing.ts'
import { RenderingContext } from './rendering-context.ts'
import { exceeded, isInVain, renderLimits } from '../render-limits.ts'

const maxFaults = 3
const maxTokens = 50_000

const tooLong = 'output limit exceeded'

// In Liquid, `?` may be part of a name, so `name??'you'` would be one word. Inside tags, `??` is replaced
// by a character that ends a word and a space: the same length, so positions stay correct.
export const fallbackOperator = '\u0001'

export const engines = { body: createEngine('body'), subject: createEngine('subject') }

/** The output of a template. */
export interface Output extends Emitter {
	/** The text that follows is copied from the template without change. */
	isLiteral?: boolean
}

export const contextFor = (
	kind: TemplateKind,
	variables: Variables,
	output: Output = createOutput(kind),
) => new RenderingContext(engines[kind], kind, variables, output)

export function print(engine: Liquid, nodes: Node[], context: Context, output: Emitter) {
	try {
		toValueSync(engine.renderer.renderTemplates(nodes, context, output))
	} catch (error) {
		if (!isExhausted(causeOf(error))) throw error // other faults were recorded where they happened
	}
	if (isInVain()) throw exceeded(tooSlow)
}

export function parse(engine: Liquid, source: string) {
	const tokens = new Tokenizer(source, engine.options.operators).readTopLevelTokens(engine.options)
	if (source.includes('??')) rewriteFallbacks(source, tokens)
	const tokenCount = tokens.length
	if (tokenCount > maxTokens) throw new ParseError(new Error('too many tags'), tokens[maxTokens]!)
	checkLength(tokens)
	for (const token of tokens) if (TypeGuards.isOutputToken(token)) checkOutput(engine, token)
	// Liquid removes tokens from the front, which is quadratic for long arrays. Removing from the end is not.
	const queue = Object.assign(tokens.reverse(), { shift: () => tokens.pop() })
	return { nodes: new Parser(engine).parseTokens(queue), tokenCount }
}

function checkLength(tokens: Token[]) {
	let length = 0
	for (const token of tokens)
		if (TypeGuards.isDelimitedToken(token)) length += token.end - token.begin
	if (length > renderLimits().tagsLength) throw exceeded('the tags are too long')
}

function createEngine(kind: TemplateKind) {
	const engine = new Liquid({
		templates: {}, // without this, `include` would read our files
		ownPropertyOnly: true,
		strictFilters: true,
		timezoneOffset: 0,
		locale: 'en-US',
		operators: {
			...limitedOperators,
			[fallbackOperator]: (left: unknown, right: unknown) => toValue(left) ?? right,
		},
		...(kind === 'body' && { outputEscape: (value) => escapeBody(printable(value)) }),
	})
	for (const name of ['include', 'render', 'layout', 'block']) {
		engine.registerTag(name, {
			parse: () => {
				throw new Error(`the tag "${name}" is not available here`)
			},
			render: () => undefined,
		})
	}
	if (kind === 'body') {
		// These filters return HTML. Escaping it again would make its entities visible.
		const escape = (value: unknown) => markup(escapeBody(value))
		for (const name of ['escape', 'xml_escape']) engine.registerFilter(name, escape)
		engine.registerFilter('escape_once', (value: unknown) =>
			markup(isMarkup(value) ? value.html : escapeBody(value).replaceAll(escapedEntity, '&$1')),
		)
		engine.registerFilter('newline_to_br', (value: unknown) =>
			markup(escapeBody(value).replaceAll(/\r?\n/g, '<br>\n')),
		)
	}
	engine.registerTag('cycle', LimitedCycle)
	engine.registerTag('#', { parse: checkComment, render: () => undefined })
	limitFilters(engine)
	engine.renderer.renderTemplates = renderNodes
	return engine
}

/** An entity whose own `&` has been escaped. */
const escapedEntity = /&amp;((?:[a-z][a-z\d]*|#\d+|#x[\da-f]+);)/gi

/** Replaces Liquid's own check, whose pattern starts again at every line break. */
function checkComment({ args }: TagToken) {
	const isComment = (line: string) => /^\s*(?:#|$)/.test(line)
	if (!args.split('\n').slice(1).every(isComment))
		throw new Error("every line of an inline comment must start with a '#' character")
}

/** Replaces Liquid's own: a node that fails prints nothing, and the nodes after it are still printed. */
function* renderNodes(nodes: Node[], context: Context, emitter?: Output): Generator<unknown, any> {
	const rendering = context as RenderingContext // the engine's contexts have no other class
	const { kind } = rendering
	const output = emitter ?? createOutput(kind)
	step(context)
	for (const node of nodes) {
		try {
			step(context)
			output.isLiteral = node.token.kind === TokenKind.HTML
			const text: unknown = yield node.render(context, output)
			output.isLiteral = false
			if (text) output.write(text)
		} catch (caught) {
			const error = causeOf(caught)
			note(rendering, node, error)
			if (isExhausted(error)) throw error
		}
		if (context.breakCalled || context.continueCalled) break
	}
	// Only `capture` passes no emitter, and the captured text is escaped already.
	if (!emitter) chargeMemory(context, output.buffer.length)
	return emitter || kind === 'subject' ? output.buffer : markup(output.buffer)
}

function note(rendering: RenderingContext, node: Node, error: unknown) {
	const { faults } = rendering
	if (error instanceof Error && error.message === tooSlow) rendering.isTooSlow = true
	if (faults.length >= maxFaults || (isExhausted(error) && faults.length > 0)) return
	const [line] = node.token.getPosition()
	const message = error instanceof Error ? error.message : String(error)
	faults.push(`line ${line}: ${message.slice(0, 200)}`)
}

/** Liquid's look-ups wrap errors and add the position to their message. */
function causeOf(error: unknown): unknown {
	return error instanceof UndefinedVariableError
		? causeOf((error as { originalError?: unknown }).originalError)
		: error
}

/** After this error nothing else can be printed. Other faults affect only their own node. */
function isExhausted(error: unknown) {
	return error instanceof Error && (error.message === tooLong || error.message === tooSlow)
}

/** `sourceLength`: a template may print all of its own text, however long. */
export function createOutput(kind: TemplateKind, sourceLength = 0): Output {
	const most = renderLimits().outputLength + sourceLength
	return {
		buffer: '',
		write(value: unknown) {
			const text = typeof value === 'string' ? value : asText(printable(value), kind)
			if (this.buffer.length + text.length > most) throw exceeded(tooLong)
			this.buffer += text
		},
	}
}

/** Liquid reads `{{ first name }}` as `first` and ignores the rest, so this reports an error. */
function checkOutput(engine: Liquid, token: Token & { contentRange: [number, number] }) {
	const { input, contentRange } = token
	const { operators } = engine.options
	const tokenizer = new Tokenizer(input, operators, undefined, contentRange)
	let values = 0
	for (const part of tokenizer.readFilteredValue().initial.postfix) {
		if (!TypeGuards.isOperatorToken(part)) values++
		else if (part.operator !== 'not') values--
	}
	if (values !== 1)
		throw new ParseError(new Error(`expected one value in ${token.getText()}`), token)
}

function rewriteFallbacks(source: string, tokens: Token[]) {
	const inTags = tokens.filter((token) => TypeGuards.isDelimitedToken(token))
	let rewritten = ''
	let at = 0
	for (const { begin, end } of inTags) {
		// Quoted text is matched first, and left unchanged.
		const tag = source
			.slice(begin, end)
			.replaceAll(/"[^"]*"|'[^']*'|\?\?/g, (part) =>
				part === '??' ? `${fallbackOperator} ` : part,
			)
		rewritten += source.slice(at, begin) + tag
		at = end
	}
	rewritten += source.slice(at)
	for (const token of inTags) {
		token.input = rewritten
		if (token instanceof TagToken) token.tokenizer.input = rewritten
	}
}
