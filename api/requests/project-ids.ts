import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * After a reset, a project's rows carry another id than its public id. Records show the public id. The API
 * never shows the id of the rows, so there is no ambiguity.
 */
export function showPublicIds(app: FastifyInstance) {
	app.addHook('onSend', async ({ caller }, _reply, payload) =>
		typeof payload === 'string' ? withPublicIds(caller, payload) : payload,
	)
}

export const withPublicIds = (caller: FastifyRequest['caller'], text: string) =>
	!caller || caller.id === caller.publicId
		? text
		: text.replaceAll(`"projectId":"${caller.id}"`, `"projectId":"${caller.publicId}"`)
