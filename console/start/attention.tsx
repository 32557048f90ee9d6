import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Tempost, WebhookEndpoint } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { formatCount } from '../parts/figures.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './start.module.css'

interface Matter {
	text: string
	/** Below the project's address. */
	path: string
	act: string
}

/** Everything that waits for a person. */
export function useMatters() {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'attention'],
		queryFn: () => mattersOf(api, project.id),
		refetchInterval: liveMs.slow,
	})
}

/** Nothing is shown when there is nothing. */
export function Attention({ matters }: { matters: Matter[] }) {
	const { project } = useProject()
	if (matters.length === 0) return null
	return (
		<ul className={styles.matters} aria-label="Needs a decision">
			{matters.map(({ text, path, act }) => (
				<li key={text}>
					{text} <Link to={`/console/${project.id}/${path}` as '/'}>{act}</Link>
				</li>
			))}
		</ul>
	)
}

async function mattersOf(api: Tempost, projectId: string): Promise<Matter[]> {
	const [doubtful, domains, endpoints] = await Promise.all([
		api.emails.list({ status: 'UNCERTAIN', limit: 1, bodies: false }),
		api.domains.list(projectId),
		api.webhookEndpoints.list(),
	])
	const unverified = domains.filter(({ verified }) => !verified)
	const disabled = endpoints.filter(isGivenUp)
	const failing = endpoints.filter(({ health }) => health.state === 'failing')
	return [
		...matter(doubtful.total, 'mail may or may not have been sent.', {
			plural: 'mails may or may not have been sent.',
			path: 'emails?status=UNCERTAIN',
			act: 'Decide',
		}),
		...matter(unverified.length, 'domain is not verified.', {
			plural: 'domains are not verified.',
			path: 'domains',
			act: 'Show what is missing',
		}),
		...matter(disabled.length, 'webhook endpoint is disabled, and keeps its events for 30 days.', {
			plural: 'webhook endpoints are disabled, and keep their events for 30 days.',
			path: 'webhooks',
			act: 'Show',
		}),
		...matter(failing.length, 'webhook endpoint does not accept its events.', {
			plural: 'webhook endpoints do not accept their events.',
			path: 'webhooks',
			act: 'Show',
		}),
	]
}

/** An endpoint that its owner has disabled needs nothing. */
const isGivenUp = ({ disabledReason }: WebhookEndpoint) =>
	disabledReason !== null && disabledReason !== 'OWNER'

function matter(
	count: number,
	singular: string,
	{ plural, path, act }: { plural: string; path: string; act: string },
): Matter[] {
	return count === 0
		? []
		: [{ text: `${formatCount(count)} ${count === 1 ? singular : plural}`, path, act }]
}
