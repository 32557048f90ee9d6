import { defineEntity, p } from '@mikro-orm/core'

/**
 * An event from a provider, by the provider's message id: a repeated event is ignored. `evidence` is kept
 * only while its mail is unknown, because the hand-over may still be recorded.
 */
const schema = defineEntity({
	name: 'ProviderEvent',
	tableName: 'provider_events',
	indexes: [
		{ properties: ['receivedAt'] },
		{
			name: 'provider_events_unmatched',
			properties: ['receivedAt'],
			where: 'evidence is not null',
		},
	],
	properties: {
		id: p.text().primary(),
		receivedAt: p.datetime(3).defaultRaw('now()'),
		evidence: p.json<object>().nullable(),
	},
})

export class ProviderEvent extends schema.class {}
schema.setClass(ProviderEvent)
