import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { Domain } from '../../client/index.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Page, Section, Soft, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { useCheck, useDelete } from './domain-acts.tsx'
import { DomainRecord } from './domain-record.tsx'
import { DeletionFault } from './domain-uses.tsx'
import { domainsQuery } from './domains-query.ts'

export const page = createLazyRoute('/console/$projectId/domains/$domainId')({
	component: DomainPage,
})
const route = getRouteApi('/console/$projectId/domains/$domainId')

function DomainPage() {
	const { domainId } = route.useParams()
	const current = useProject()
	const { data, error, refetch } = useQuery(domainsQuery(current))
	const domain = data?.find(({ id }) => id === domainId)
	if (domain) return <OneDomain domain={domain} />
	return (
		<Page title="Domain" back={<Back />}>
			{data ? (
				<NotFound />
			) : error ? (
				<Fault error={error} retry={() => void refetch()} />
			) : (
				<Waiting />
			)}
		</Page>
	)
}

function Back() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/domains" params={{ projectId: project.id }}>
			Domains
		</Link>
	)
}

function OneDomain({ domain }: { domain: Domain }) {
	const { project } = useProject()
	const check = useCheck(domain.id)
	const deletion = useDelete(domain)
	return (
		<Page
			title={domain.domain}
			back={<Back />}
			about={<Status status={domain.status} />}
			actions={
				<>
					<Button kind="primary" isBusy={check.isPending} onClick={() => check.mutate()}>
						Check now
					</Button>
					{mayAct(project, 'ADMIN') && (
						<Button kind="danger" isBusy={deletion.isPending} onClick={deletion.ask}>
							Delete
						</Button>
					)}
				</>
			}
		>
			<Stack>
				<Fault error={check.error} />
				{deletion.error && <DeletionFault error={deletion.error} />}
				<Stand domain={domain} />
			</Stack>
			{domain.records.length > 0 && (
				<Section title="DNS records">
					<Stack>
						{domain.records.map((record) => (
							<DomainRecord
								key={`${record.purpose} ${record.type} ${record.name}`}
								record={record}
								domain={domain.domain}
							/>
						))}
					</Stack>
				</Section>
			)}
		</Page>
	)
}

const Stand = ({ domain: { domain, verified, lastError, lastCheckedAt, records } }: Props) => (
	<div>
		<p>
			{verified
				? `Mail can be sent from addresses at ${domain}.`
				: 'Set the records below where the DNS of the domain is managed, then check. The domain is also checked by itself: every few minutes on its first day, later less often.'}
		</p>
		{records.length === 0 && <p>It needs no DNS records here.</p>}
		<p>
			<Soft>
				Last check <Time at={lastCheckedAt} />
				{lastError && `: ${lastError}`}
			</Soft>
		</p>
	</div>
)

interface Props {
	domain: Domain
}
