import { Context, Drop, type Liquid, toValue } from 'liquidjs'
import { chargeMemory, createDeadline, createMemory, look, step } from './liquid-limits.ts'
import { follow, lookUp, readProperty, type Variables } from './look-up.ts'
import type { Output } from './liquid-engine.ts'
import type { TemplateKind } from './printing.ts'

/**
 * The state of one rendering, which Liquid passes to every tag and filter. It looks variables up by our
 * rules, and counts everything that Liquid does for each item of a list: look-ups, scopes, copies.
 *
 * A class, because each mail has two renderings: functions made for each of them, and a map from contexts
 * to renderings, took half of the time of a campaign's mail.
 */
export class RenderingContext extends Context {
	readonly kind: TemplateKind
	readonly output: Output
	readonly faults: string[] = []
	isTooSlow = false
	readonly #variables: Variables

	constructor(engine: Liquid, kind: TemplateKind, variables: Variables, output: Output) {
		// The engine's environment stays empty, because `increment` writes into it.
		super(
			{},
			engine.options,
			{ sync: true },
			{
				liquid: engine,
				memoryLimit: createMemory() as never,
				renderLimit: createDeadline() as never,
			},
		)
		this.kind = kind
		this.output = output
		this.#variables = variables
	}

	/** Liquid takes a value for a finished generator. */
	override _get(path: unknown[]) {
		const value = this.#find(path)
		if (Array.isArray(value)) look(this)
		else step(this)
		return value as never
	}

	#find(path: unknown[]) {
		const keys = path.map((key) => toValue(key) as string)
		const name = String(keys[0])
		// Its type is private, but only here are loop variables and assignments known.
		const scopes = this['scopes'] as Record<string, unknown>[]
		const scope = scopes.findLast((one) => Object.hasOwn(one, name))
		if (scope) return follow(scope, keys)
		if (Object.hasOwn(this.environments, name)) return follow(this.environments, keys)
		return lookUp(this.#variables, keys)
	}

	override _getFromScope(...args: Parameters<Context['_getFromScope']>) {
		step(this)
		return super._getFromScope(...args)
	}

	override push(scope: Record<string, unknown>) {
		step(this)
		// A loop copies its list, and loops may be nested.
		const loop = scope['forloop'] ?? scope['tablerowloop']
		if (loop instanceof Drop) chargeMemory(this, Number(loop['length']))
		return super.push(scope)
	}

	override spawn(scope?: object) {
		step(this)
		return super.spawn(scope)
	}

	override readProperty(value: unknown, key: unknown) {
		return readProperty(value, toValue(key))
	}
}
