import { Type } from 'typebox'
import {
	Duration,
	durationMs,
	listOf,
	MetricsEnvironment,
	publicUrlOf,
	readEnvironment,
	SharedEnvironment,
	TemporalEnvironment,
	TracingEnvironment,
	tracingOf,
} from '../db/environment.ts'
import { trackingKey } from '../mail/tracked-urls.ts'
import { StripeEnvironment, stripeSettings } from '../outside/stripe/settings.ts'

const Environment = Type.Object({
	...SharedEnvironment,
	...TemporalEnvironment,
	...StripeEnvironment,
	...MetricsEnvironment,
	...TracingEnvironment,
	/** METRICS_PORT belongs to the API on the same machine. */
	WORKER_METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
	SEND_RATE_PER_SECOND: Type.Optional(Type.Number({ minimum: 0 })),
	UNCERTAIN_AFTER: Duration('10m'),
	DELIVERY_PATIENCE: Duration('3d'),
	BODY_RETENTION_DAYS: Type.Integer({ default: 90, minimum: 1, maximum: 36500 }),
	/** Unset: for ever. Mails are tried, counted and reported on for much less than the minimum. */
	LEDGER_RETENTION_DAYS: Type.Optional(Type.Integer({ minimum: 30, maximum: 36500 })),
})

/** All settings that the worker process reads from its environment, at startup. */
export function readSettings(environment: NodeJS.ProcessEnv) {
	const env = readEnvironment(Environment, environment)
	const publicUrl = publicUrlOf(env)
	const metricsPort =
		env.WORKER_METRICS_PORT ?? (env.METRICS_PORT ? env.METRICS_PORT + 1 : undefined)
	return {
		env,
		publicUrl,
		platformFrom: env.PLATFORM_FROM ?? `noreply@${new URL(publicUrl).hostname}`,
		uncertainAfterMs: durationMs(env.UNCERTAIN_AFTER),
		bodyRetentionDays: env.BODY_RETENTION_DAYS,
		ledgerRetentionDays: env.LEDGER_RETENTION_DAYS,
		patienceMs: durationMs(env.DELIVERY_PATIENCE),
		webhooks: {
			dnsServers: listOf(env.DNS_SERVERS),
			allowPrivate: env.ALLOW_PRIVATE_WEBHOOKS,
		},
		/** Encrypts secrets in the database. */
		secret: env.SESSION_SECRET,
		trackingKey: trackingKey(env.SESSION_SECRET),
		stripe: stripeSettings(env),
		hasBilling: env.STRIPE_SECRET_KEY !== undefined,
		tracing: tracingOf(env, 'tempost-worker'),
		/** undefined: metrics are off. */
		metrics: metricsPort === undefined ? undefined : { host: env.METRICS_HOST, port: metricsPort },
	}
}
