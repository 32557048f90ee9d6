import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { configQuery } from '../config.ts'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Section, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { Consumption } from './consumption.tsx'
import { Invoices } from './invoices.tsx'
import { Limits } from './limits.tsx'
import { Plan } from './plan.tsx'

export const page = createLazyRoute('/console/$projectId/settings/billing')({
	component: BillingPage,
})

function BillingPage() {
	const { project } = useProject()
	const { data: config, error, refetch } = useQuery(configQuery)
	if (!mayAct(project, 'ADMIN'))
		return (
			<Empty title="Billing is for administrators">
				<p>Ask an administrator of this project.</p>
			</Empty>
		)
	if (!config) return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />
	if (!config.features.billing.enabled)
		return (
			<Empty title="Billing is off on this installation">
				<p>
					Nothing is charged, and no limit applies. The operator turns billing on with{' '}
					<code>STRIPE_SECRET_KEY</code>.
				</p>
			</Empty>
		)
	return (
		<Stack>
			<Plan />
			<Section title="This month">
				<Consumption />
			</Section>
			<Section title="Limits">
				<Limits key={project.id} />
			</Section>
			<Section title="Invoices">
				<Invoices />
			</Section>
		</Stack>
	)
}
