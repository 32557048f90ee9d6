import buildSerializers, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler'
import type { BuildCompilerFromPool } from '@fastify/ajv-compiler'
import { buildValidator } from './validation.ts'

const buildSerializer = buildSerializers()

/**
 * Fastify compiles every schema of every route when the API starts, which costs half a second. A process
 * may never need most of them, so a schema is compiled at its first use.
 */
export const compilersFactory = {
	buildValidator: ((...given) => atFirstUse(buildValidator(...given))) as BuildCompilerFromPool,
	buildSerializer: ((...given) => atFirstUse(buildSerializer(...given))) as SerializerFactory,
}

function atFirstUse<Route, Compiled extends (...given: never[]) => unknown>(
	compile: (route: Route) => Compiled,
) {
	return (route: Route) => {
		let compiled: Compiled | undefined
		return (...given: Parameters<Compiled>) => (compiled ??= compile(route))(...given)
	}
}
