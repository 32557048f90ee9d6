import test from 'ava'
import { readSettings as readWorkerSettings } from '../activities/settings.ts'
import { readSettings } from '../api/settings.ts'
import { EnvironmentError } from '../db/environment.ts'
import { readSettings as readStartSettings } from '../local/settings.ts'

const secret = { SESSION_SECRET: 'a secret of the tests' }

test('without any setting but the secret the API runs as documented', (t) => {
	t.like(readSettings(secret), {
		host: '127.0.0.1',
		port: 3000,
		publicUrl: 'http://localhost:3000',
		rateLimitPerMinute: 1000,
		idempotencyTtlHours: 24,
		attachmentsMaxCount: 10,
		attachmentsMaxMb: 10,
		emailProvider: 'local',
		platformFrom: 'noreply@localhost',
		logLevel: 'info',
	})
})

test('the public address follows the port, and loses its last slash', (t) => {
	t.is(readSettings({ ...secret, PORT: '4000' }).publicUrl, 'http://localhost:4000')
	const given = { ...secret, PUBLIC_URL: 'https://a.example/' }
	for (const read of [readSettings, readWorkerSettings, readStartSettings])
		t.is(read(given).publicUrl, 'https://a.example')
})

test('runs link into the Web UI of Temporal if its address is known', (t) => {
	t.is(readSettings(secret).temporalUi, undefined)
	const given = { TEMPORAL_UI_URL: 'http://localhost:8233/', TEMPORAL_NAMESPACE: 'mail' }
	t.deepEqual(readSettings({ ...secret, ...given }).temporalUi, {
		url: 'http://localhost:8233',
		namespace: 'mail',
	})
})

test('an empty variable counts as none', (t) => {
	const settings = readSettings({ ...secret, RESEND_API_KEY: '', PORT: '', DISABLE_SIGNUPS: '' })
	t.is(settings.emailProvider, 'local')
	t.is(settings.port, 3000)
	t.false(settings.features.signupsDisabled)
})

test('the provider is the one that was configured', (t) => {
	t.is(readSettings({ ...secret, RESEND_API_KEY: 're_1' }).emailProvider, 'resend')
	t.is(readSettings({ ...secret, SMTP_URL: 'smtp://localhost' }).emailProvider, 'smtp')
	t.is(
		readSettings({ ...secret, RESEND_API_KEY: 're_1', EMAIL_PROVIDER: 'local' }).emailProvider,
		'local',
	)
})

test('an impossible setting is named', (t) => {
	for (const [name, value] of [
		['PORT', 'http'],
		['PORT', '70000'],
		['RATE_LIMIT_PER_MINUTE', '-1'],
		['PUBLIC_URL', 'example.com'],
		['EMAIL_PROVIDER', 'pigeon'],
		['LOG_LEVEL', 'loud'],
		['SESSION_SECRET', 'short'],
		['RESEND_WEBHOOK_SECRET', 'whsec_'],
	] as const)
		t.throws(() => readSettings({ ...secret, [name]: value }), { message: new RegExp(name) })
	t.throws(() => readSettings({}), { message: /SESSION_SECRET: must be set/ })
	t.throws(() => readSettings({ ...secret, EMAIL_PROVIDER: 'pigeon' }), {
		message: /EMAIL_PROVIDER: must be one of resend, smtp, local/,
	})
})

test('a setting that the API refuses is refused by the worker, too, and named', (t) => {
	for (const [name, value] of [
		['PORT', '70000'],
		['PUBLIC_URL', 'mail.example.com'],
		['RESEND_BASE_URL', 'api.example.com'],
		['EMAIL_PROVIDER', 'pigeon'],
		['LOG_LEVEL', 'loud'],
		['SESSION_SECRET', 'short'],
	] as const)
		for (const read of [readSettings, readWorkerSettings])
			for (const platform of [{}, { PLATFORM_FROM: 'noreply@example.com' }])
				t.throws(() => read({ ...secret, ...platform, [name]: value }), {
					instanceOf: EnvironmentError,
					message: new RegExp(name),
				})
	t.throws(() => readStartSettings({ PUBLIC_URL: 'mail.example.com' }), { message: /PUBLIC_URL/ })
})
