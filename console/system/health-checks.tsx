import type { ReactNode } from 'react'
import type { System } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import { Explained, type ExplainedOf } from './explained.tsx'

/** Each part that mail needs, what it does, and what to do when it is away. */
export function HealthChecks({ system: { health, provider } }: { system: System }) {
	const { checks } = health
	return (
		<Explained
			items={[
				check(
					'Database',
					checks.database,
					'Postgres keeps everything.',
					'Postgres does not answer, so nothing is accepted. Start it again.',
				),
				check(
					'Temporal',
					checks.temporal,
					'It starts and repeats all work.',
					'It does not answer. Mail is accepted and waits. Start it again.',
				),
				check(
					'Worker',
					checks.worker,
					'At least one is running.',
					'None is running. Mail is accepted and waits. Start one with npm run worker.',
				),
				check(
					'Mail provider',
					checks.provider,
					provider.name === 'local'
						? 'Mail goes into the local mailbox and does not leave this machine.'
						: `Mail leaves through ${provider.name}.`,
					<>
						{provider.name} has taken no mail since <Time at={provider.awaySince} />. Its last
						answer: {provider.answer ?? 'none'}. Sending is tried again by itself. If this lasts,
						look at the status page of the provider, and at its settings on your server.
					</>,
				),
			]}
		/>
	)
}

function check(name: string, state: 'ok' | 'away', ok: ReactNode, away: ReactNode): ExplainedOf {
	const isOk = state === 'ok'
	return {
		name,
		value: <Badge tone={isOk ? 'good' : 'bad'}>{isOk ? 'OK' : 'Away'}</Badge>,
		about: isOk ? ok : away,
	}
}
