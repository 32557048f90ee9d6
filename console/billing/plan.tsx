import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useAct } from '../parts/use-act.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

const currencies = [
	{ value: 'usd', name: 'US dollars' },
	{ value: 'eur', name: 'Euros' },
	{ value: 'gbp', name: 'Pounds sterling' },
] as const

/** Whether the project has a subscription, and the way to Stripe. */
export function Plan() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'billing', 'setup'],
		queryFn: () => api.projects.setupState(project.id),
	})
	if (!data)
		return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting rows={2} />
	return data.hasSubscription ? <Subscribed /> : <Free />
}

function Subscribed() {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct()
	return (
		<Stack>
			<p>This project has a subscription. Mail is paid by use, at the end of each month.</p>
			<Fault error={error} />
			<Row>
				<Button
					kind="primary"
					isBusy={isBusy}
					onClick={() => run({ act: async () => goTo(await api.billing.createPortal(project.id)) })}
				>
					Change payment or end the subscription
				</Button>
			</Row>
		</Stack>
	)
}

function Free() {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct()
	const [currency, setCurrency] = useState<(typeof currencies)[number]['value']>('usd')
	return (
		<Stack>
			<p>
				This project has no subscription. It sends the free mails of each month; after that, mail is
				refused until the next month.
			</p>
			<Fault error={error} />
			<Row>
				<Filter
					name="Currency"
					value={currency}
					options={currencies}
					onChange={(chosen) =>
						setCurrency(currencies.find(({ value }) => value === chosen)?.value ?? 'usd')
					}
				/>
				<Button
					kind="primary"
					isBusy={isBusy}
					onClick={() =>
						run({
							act: async () => goTo(await api.billing.createCheckout(project.id, { currency })),
						})
					}
				>
					Subscribe
				</Button>
			</Row>
		</Stack>
	)
}

/** Stripe's pages lead back when they are done. */
const goTo = ({ url }: { url: string }) => location.assign(url)
