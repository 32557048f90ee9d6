import Type from 'typebox'
import {
	EnvironmentError,
	listOf,
	MetricsEnvironment,
	publicUrlOf,
	readEnvironment,
	SharedEnvironment,
	TemporalEnvironment,
	TracingEnvironment,
	tracingOf,
	Url,
} from '../db/environment.ts'
import { StripeEnvironment, stripeSettings } from '../outside/stripe/settings.ts'

const Text = Type.Optional(Type.String())

const Environment = Type.Object({
	...SharedEnvironment,
	...TemporalEnvironment,
	...MetricsEnvironment,
	...TracingEnvironment,
	TEMPORAL_UI_URL: Url,
	HOST: Type.String({ default: '127.0.0.1' }),
	TRUST_PROXY: Type.String({ default: 'loopback' }),
	DATA_DIR: Type.String({ default: '.data' }),
	RATE_LIMIT_PER_MINUTE: Type.Integer({ minimum: 0, default: 1000 }),
	IDEMPOTENCY_TTL_HOURS: Type.Number({ exclusiveMinimum: 0, default: 24 }),
	ATTACHMENTS_MAX_COUNT: Type.Integer({ minimum: 0, default: 10 }),
	ATTACHMENTS_MAX_MB: Type.Number({ minimum: 0, default: 10 }),
	RESEND_WEBHOOK_SECRET: Type.Optional(
		Type.String({ pattern: '^(whsec_)?[A-Za-z0-9+/]{16,}=*$', description: 'whsec_…' }),
	),
	GITHUB_CLIENT_ID: Text,
	GITHUB_CLIENT_SECRET: Text,
	GITHUB_URL: Url,
	GOOGLE_CLIENT_ID: Text,
	GOOGLE_CLIENT_SECRET: Text,
	GOOGLE_URL: Url,
	S3_ENDPOINT: Url,
	S3_BUCKET: Text,
	S3_REGION: Type.String({ default: 'us-east-1' }),
	S3_ACCESS_KEY_ID: Text,
	S3_SECRET_ACCESS_KEY: Text,
	UPLOADS_DIR: Text,
	DISABLE_SIGNUPS: Type.Boolean({ default: false }),
	...StripeEnvironment,
	STRIPE_WEBHOOK_SECRET: Text,
})

export type Settings = ReturnType<typeof readSettings>

/** All settings that the API's process reads from its environment, at startup. */
export function readSettings(environment: NodeJS.ProcessEnv) {
	const env = readEnvironment(Environment, environment)
	const publicUrl = publicUrlOf(env)
	return {
		env,
		host: env.HOST,
		port: env.PORT,
		publicUrl,
		/** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
		trustProxy: env.TRUST_PROXY,
		logLevel: env.LOG_LEVEL,
		sessionSecret: env.SESSION_SECRET,
		rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
		idempotencyTtlHours: env.IDEMPOTENCY_TTL_HOURS,
		attachmentsMaxCount: env.ATTACHMENTS_MAX_COUNT,
		attachmentsMaxMb: env.ATTACHMENTS_MAX_MB,
		/** The worker refuses contradictory settings; here only the provider's name is needed. */
		emailProvider:
			env.EMAIL_PROVIDER ?? (env.RESEND_API_KEY ? 'resend' : env.SMTP_URL ? 'smtp' : 'local'),
		platformFrom: env.PLATFORM_FROM ?? `noreply@${new URL(publicUrl).hostname}`,
		resendWebhookSecret: env.RESEND_WEBHOOK_SECRET,
		stripeWebhookSecret: env.STRIPE_WEBHOOK_SECRET,
		/** undefined: billing is off, and there are no limits. */
		stripe: stripeSettings(env),
		s3: s3Of(env),
		uploadsDir: env.UPLOADS_DIR ?? `${env.DATA_DIR}/uploads`,
		oauth: {
			github: oauthClient(env.GITHUB_CLIENT_ID, env.GITHUB_CLIENT_SECRET, env.GITHUB_URL),
			google: oauthClient(env.GOOGLE_CLIENT_ID, env.GOOGLE_CLIENT_SECRET, env.GOOGLE_URL),
		},
		features: {
			billing: env.STRIPE_SECRET_KEY !== undefined,
			storage: env.S3_BUCKET !== undefined,
			signupsDisabled: env.DISABLE_SIGNUPS,
		},
		/** undefined: there are no links to it. */
		temporalUi:
			env.TEMPORAL_UI_URL === undefined
				? undefined
				: {
						url: env.TEMPORAL_UI_URL.replace(/\/+$/, ''),
						namespace: env.TEMPORAL_NAMESPACE,
					},
		dnsServers: listOf(env.DNS_SERVERS),
		allowPrivateWebhooks: env.ALLOW_PRIVATE_WEBHOOKS,
		tracing: tracingOf(env, 'tempost-api'),
		/** undefined: metrics are off. */
		metrics:
			env.METRICS_PORT === undefined
				? undefined
				: { host: env.METRICS_HOST, port: env.METRICS_PORT },
	}
}

/** undefined: images are stored in a folder. */
function s3Of(env: Type.Static<typeof Environment>) {
	const { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = env
	const needed = { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }
	const missing = Object.entries(needed).filter(([, value]) => value === undefined)
	if (missing.length === Object.keys(needed).length) return undefined
	if (missing.length > 0)
		throw new EnvironmentError(
			missing.map(([name]) => `${name}: is required to store uploads in S3`),
		)
	return {
		endpoint: S3_ENDPOINT!,
		bucket: S3_BUCKET!,
		region: S3_REGION,
		accessKeyId: S3_ACCESS_KEY_ID!,
		secretAccessKey: S3_SECRET_ACCESS_KEY!,
	}
}

const oauthClient = (clientId?: string, clientSecret?: string, url?: string) =>
	clientId === undefined || clientSecret === undefined
		? undefined
		: { clientId, clientSecret, base: url?.replace(/\/+$/, '') }
