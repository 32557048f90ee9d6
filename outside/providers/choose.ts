import { localProvider, type StoreMail } from './local.ts'
import type { Provider } from './provider.ts'
import { resendProvider } from './resend.ts'
import { smtpProvider } from './smtp.ts'

export interface ProviderSettings {
	EMAIL_PROVIDER?: string | undefined
	RESEND_API_KEY?: string | undefined
	RESEND_BASE_URL?: string | undefined
	SMTP_URL?: string | undefined
}

/** Creates the provider that the environment selects. Throws if the settings contradict each other. */
export function createProvider(
	settings: ProviderSettings,
	{ store }: { store: StoreMail },
): Provider {
	const { RESEND_API_KEY: apiKey, RESEND_BASE_URL: baseUrl, SMTP_URL: url } = settings
	switch (providerName(settings)) {
		case 'resend':
			if (!apiKey) throw new Error('EMAIL_PROVIDER is resend, but RESEND_API_KEY is not set')
			if (baseUrl && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
				throw new Error('RESEND_BASE_URL must be an http or https address')
			return resendProvider({ apiKey, ...(baseUrl && { baseUrl }) })
		case 'smtp':
			if (!url) throw new Error('EMAIL_PROVIDER is smtp, but SMTP_URL is not set')
			return smtpProvider({ url })
		case 'local':
			return localProvider({ store })
	}
}

/** The provider's name, for code that needs it before the provider exists: the mailbox page, domains. */
export function providerName(settings: ProviderSettings): Provider['name'] {
	const { EMAIL_PROVIDER: chosen, RESEND_API_KEY: apiKey, SMTP_URL: url } = settings
	if (chosen) {
		if (chosen === 'local' || chosen === 'smtp' || chosen === 'resend') return chosen
		throw new Error(`EMAIL_PROVIDER must be resend, smtp or local, not ${chosen}`)
	}
	if (apiKey) return 'resend'
	return url ? 'smtp' : 'local'
}
