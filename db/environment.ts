import { Type } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'

// Environment variables are text: "3000" is accepted where a number is expected.
Settings.Set({ correctiveParse: true })

/** Reads a process's settings from the environment. An empty variable counts as not set. */
export function readEnvironment<T extends Type.TSchema>(
	schema: T,
	environment: NodeJS.ProcessEnv,
): Type.Static<T> {
	const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
	const parsed = Value.Default(schema, Value.Clean(schema, Value.Convert(schema, given)))
	const problems = Value.Errors(schema, parsed)
	if (problems.length > 0)
		throw new EnvironmentError(
			problems.map(({ instancePath, message, params }) => {
				const { requiredProperties, allowedValues } = params as Record<string, string[] | undefined>
				if (requiredProperties) return `${requiredProperties.join(', ')}: must be set`
				const wanted = allowedValues ? `must be one of ${allowedValues.join(', ')}` : message
				return `${instancePath.slice(1)}: ${wanted}`
			}),
		)
	return parsed as Type.Static<T>
}

export class EnvironmentError extends Error {
	constructor(problems: string[]) {
		super(
			`These environment variables are wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`,
		)
	}
}

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** "10m", "3d", "500ms" */
export const Duration = (byDefault: string) =>
	Type.String({ pattern: '^[0-9]+(ms|s|m|h|d)$', default: byDefault })

export function durationMs(text: string): number {
	const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text)!
	return Number(amount) * unitsMs[unit as keyof typeof unitsMs]
}

export const TemporalEnvironment = {
	TEMPORAL_ADDRESS: Type.String({ default: 'localhost:7233' }),
	TEMPORAL_NAMESPACE: Type.String({ default: 'default' }),
	TEMPORAL_API_KEY: Type.Optional(Type.String()),
	TEMPORAL_TLS: Type.Boolean({ default: false }),
}

const url = { pattern: '^https?://[^\\s/]+(/\\S*)?$', description: 'http(s)://…' }
export const Url = Type.Optional(Type.String(url))
export const UrlOr = (byDefault: string) => Type.String({ ...url, default: byDefault })

/** The API and the worker must agree on these. */
export const SharedEnvironment = {
	PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 3000 }),
	PUBLIC_URL: Url,
	SESSION_SECRET: Type.String({ minLength: 16 }),
	LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
		default: 'info',
	}),
	EMAIL_PROVIDER: Type.Optional(Type.Enum(['resend', 'smtp', 'local'])),
	RESEND_API_KEY: Type.Optional(Type.String()),
	RESEND_BASE_URL: Url,
	SMTP_URL: Type.Optional(Type.String()),
	PLATFORM_FROM: Type.Optional(Type.String()),
	/** For our own look-ups; defaults to the system's servers. */
	DNS_SERVERS: Type.Optional(Type.String()),
	ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false }),
}

/** The base of all links. */
export const publicUrlOf = (env: { PUBLIC_URL?: string; PORT: number }) =>
	(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).replace(/\/+$/, '')

export const TracingEnvironment = {
	OTEL_EXPORTER_OTLP_ENDPOINT: Url,
	/**
	 * The share of traces to record, for traces that start with us. A caller's trace is recorded if the
	 * caller records it.
	 */
	OTEL_TRACES_SAMPLER_ARG: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
}

/** undefined: tracing is off. */
export const tracingOf = (
	env: { OTEL_EXPORTER_OTLP_ENDPOINT?: string; OTEL_TRACES_SAMPLER_ARG: number },
	service: string,
) =>
	env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
		? undefined
		: { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, service, ratio: env.OTEL_TRACES_SAMPLER_ARG }

export const MetricsEnvironment = {
	METRICS_HOST: Type.String({ default: '127.0.0.1' }),
	METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_534 })),
}

/** For clients and workers alike. */
export const temporalConnection = (env: {
	TEMPORAL_ADDRESS: string
	TEMPORAL_API_KEY?: string
	TEMPORAL_TLS: boolean
}) => ({
	address: env.TEMPORAL_ADDRESS,
	...(env.TEMPORAL_API_KEY ? { apiKey: env.TEMPORAL_API_KEY } : {}),
	...(env.TEMPORAL_TLS || env.TEMPORAL_API_KEY ? { tls: true } : {}),
})

/** "1.1.1.1:53, 9.9.9.9" as a list; an unset variable is an empty list. */
export const listOf = (text: string | undefined) =>
	text?.split(',').map((item) => item.trim()) ?? []
