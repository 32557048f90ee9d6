import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import type { Domain } from '../../client/index.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page, Soft } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { AddDomain } from './add-domain.tsx'
import { domainsQuery } from './domains-query.ts'
import { neededBy } from './record-advice.ts'

export const page = createLazyRoute('/console/$projectId/domains')({ component: DomainsPage })

const columns: Column<Domain>[] = [
	{ name: 'Domain', cell: ({ domain }) => domain, width: '2fr' },
	{ name: 'Status', cell: ({ status }) => <Status status={status} />, width: '110px' },
	{ name: 'DNS records', cell: (domain) => recordsOf(domain) },
	{ name: 'Last check', cell: ({ lastCheckedAt }) => <Time at={lastCheckedAt} />, width: '160px' },
]

const recordsOf = (domain: Domain) => {
	const needed = neededBy(domain)
	const found = needed.filter(({ status }) => status === 'verified').length
	return needed.length === 0 ? 'None needed' : `${found} of ${needed.length} found`
}

function DomainsPage() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery(domainsQuery({ project, api }))
	const [isAdding, setAdding] = useState(false)
	const add = mayAct(project, 'ADMIN') ? (
		<Button kind="primary" onClick={() => setAdding(true)}>
			Add domain
		</Button>
	) : (
		<Soft>Only admins and the owner add domains.</Soft>
	)
	return (
		<Page title="Domains" actions={data && data.length > 0 && add}>
			<Table
				name="Domains"
				columns={columns}
				rows={data}
				error={error}
				retry={() => void refetch()}
				rowKey={({ id }) => id}
				linkOf={({ id }) => `/console/${project.id}/domains/${id}`}
				empty={
					<Empty title="No domain yet" action={add}>
						<p>
							Mail leaves only from addresses of a verified domain. Add the domain that you send
							from, and this page shows the DNS records that it needs.
						</p>
					</Empty>
				}
			/>
			<AddDomain isOpen={isAdding} onClose={() => setAdding(false)} />
		</Page>
	)
}
