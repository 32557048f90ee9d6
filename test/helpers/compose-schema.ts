// The Compose Specification's rules for the members that our file uses, written from its reference.
// Unknown members are errors, whether misspelt or not looked up yet.

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const duration = { type: 'string', pattern: '^(\\d+(us|ms|s|m|h))+$' }
const closed = (properties: object, required: string[] = []) => ({
	type: 'object',
	properties,
	required,
	additionalProperties: false,
})
const mapOf = (value: object) => ({ type: 'object', additionalProperties: value })

const service = closed({
	image: { type: 'string', pattern: '^[a-z0-9./_-]+(:[\\w.-]+)?$' },
	build: closed({ context: text, dockerfile_inline: text }, ['context']),
	command: { anyOf: [text, texts] },
	init: { type: 'boolean' },
	user: text,
	shm_size: { type: 'string', pattern: '^\\d+(b|kb|mb|gb)$' },
	env_file: {
		type: 'array',
		items: closed({ path: text, required: { type: 'boolean' } }, ['path']),
	},
	environment: mapOf({ type: ['string', 'number', 'boolean', 'null'] }),
	ports: {
		type: 'array',
		items: { type: 'string', pattern: '^([\\d.]+:)?\\d+:\\d+(/(tcp|udp))?$' },
	},
	volumes: { type: 'array', items: { type: 'string', pattern: '^[^:]+:/[^:]+(:(ro|rw))?$' } },
	depends_on: mapOf(
		closed(
			{
				condition: {
					enum: ['service_started', 'service_healthy', 'service_completed_successfully'],
				},
			},
			['condition'],
		),
	),
	healthcheck: closed(
		{
			test: {
				type: 'array',
				items: [{ enum: ['CMD', 'CMD-SHELL', 'NONE'] }],
				additionalItems: text,
				minItems: 1,
			},
			interval: duration,
			timeout: duration,
			retries: { type: 'integer', minimum: 1 },
			start_period: duration,
		},
		['test'],
	),
	stop_grace_period: duration,
	restart: { type: 'string', pattern: '^(no|always|unless-stopped|on-failure(:\\d+)?)$' },
})

export const composeSchema = {
	type: 'object',
	properties: { services: mapOf(service), volumes: mapOf({ type: 'null' }) },
	patternProperties: { '^x-': {} },
	required: ['services'],
	additionalProperties: false,
}
