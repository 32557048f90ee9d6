import { defineEntity, p } from '@mikro-orm/core'

/**
 * What a provider has told us, by the provider's own id of the message: told again, it is ignored.
 * `evidence` is kept only while its mail is unknown, for the record of its hand-over may still come.
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
