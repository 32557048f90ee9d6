import { resolve } from 'node:path'
import { Type } from 'typebox'
import { publicUrlOf, readEnvironment, Url } from '../db/environment.ts'

const Port = (byDefault: number) => Type.Integer({ minimum: 1, maximum: 65535, default: byDefault })

const Environment = Type.Object({
	HOST: Type.String({ default: '127.0.0.1' }),
	PORT: Port(3000),
	PUBLIC_URL: Url,
	DATA_DIR: Type.String({ default: '.data' }),
	DATABASE_URL: Type.Optional(Type.String()),
	TEMPORAL_ADDRESS: Type.Optional(Type.String()),
	TEMPORAL_NAMESPACE: Type.String({ default: 'default' }),
	TEMPORAL_PORT: Port(7233),
	TEMPORAL_UI_PORT: Port(8233),
	EMAIL_PROVIDER: Type.Optional(Type.String()),
	RESEND_API_KEY: Type.Optional(Type.String()),
	SMTP_URL: Type.Optional(Type.String()),
	SESSION_SECRET: Type.Optional(Type.String()),
})

export type Settings = ReturnType<typeof readSettings>

// The settings of `npm start` itself. The processes it starts read their own.
export function readSettings(environment: NodeJS.ProcessEnv) {
	const given = readEnvironment(Environment, environment)
	const chosen = given.RESEND_API_KEY ? 'resend' : given.SMTP_URL ? 'smtp' : 'local'
	return {
		host: given.HOST,
		isOnLoopback: ['127.0.0.1', '::1', 'localhost'].includes(given.HOST),
		port: given.PORT,
		publicUrl: publicUrlOf(given),
		// A server on all interfaces is also reachable on loopback.
		reachableHost: ['0.0.0.0', '::'].includes(given.HOST) ? '127.0.0.1' : given.HOST,
		dataDir: resolve(given.DATA_DIR),
		databaseUrl: given.DATABASE_URL,
		temporalAddress: given.TEMPORAL_ADDRESS,
		namespace: given.TEMPORAL_NAMESPACE,
		temporalPort: given.TEMPORAL_PORT,
		temporalUiPort: given.TEMPORAL_UI_PORT,
		isMailLocal: (given.EMAIL_PROVIDER ?? chosen) === 'local',
		sessionSecret: given.SESSION_SECRET,
	}
}
