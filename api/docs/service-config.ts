import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Settings } from '../settings.ts'
import { isFromThisMachine } from '../requests/loopback.ts'
import { Component } from '../schemas.ts'

const Enabled = Component('Feature', { enabled: Type.Boolean() })
const ServiceConfig = Component('ServiceConfig', {
	environment: Type.String(),
	urls: Type.Object({ api: Type.String(), dashboard: Type.String() }),
	features: Type.Object({
		billing: Enabled,
		storage: Enabled,
		mailbox: Enabled,
		authProviders: Type.Object({ github: Type.Boolean(), google: Type.Boolean() }),
		signup: Type.Object({ signupsDisabled: Type.Boolean() }),
		email: Type.Object({ provider: Type.String(), trackingToggleEnabled: Type.Boolean() }),
	}),
})

export const serviceConfig: FastifyPluginAsyncTypebox<{ settings: Settings }> = async (
	app,
	{ settings: { emailProvider, publicUrl, oauth, features } },
) => {
	app.get(
		'/config',
		{
			config: { auth: 'none' },
			schema: {
				tags: ['service'],
				summary: 'Get the integrations that are enabled',
				description:
					'Shows what this installation offers, such as billing, image storage and providers to log in with. It needs no key. The mailbox is enabled only for callers on the machine itself.',
				response: { 200: ServiceConfig },
			},
		},
		async (request) => ({
			environment: emailProvider === 'local' ? 'development' : 'production',
			urls: { api: publicUrl, dashboard: publicUrl },
			features: {
				billing: { enabled: features.billing },
				storage: { enabled: features.storage },
				mailbox: { enabled: emailProvider === 'local' && isFromThisMachine(request) },
				authProviders: { github: oauth.github !== undefined, google: oauth.google !== undefined },
				signup: { signupsDisabled: features.signupsDisabled },
				email: { provider: emailProvider, trackingToggleEnabled: true },
			},
		}),
	)
}
