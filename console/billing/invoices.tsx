import { useQuery } from '@tanstack/react-query'
import type { Invoices as Answer } from '../../client/index.ts'
import { Status } from '../parts/badge.tsx'
import { Notice } from '../parts/notice.tsx'
import { Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { formatMoney } from './money.ts'

type Invoice = Answer['invoices'][number]

const columns: Column<Invoice>[] = [
	{ name: 'Number', cell: ({ number, id }) => number ?? id },
	{ name: 'Status', width: '120px', cell: ({ status }) => <Status status={status ?? 'draft'} /> },
	{
		name: 'Amount',
		width: '120px',
		isNumber: true,
		cell: ({ total, currency }) => formatMoney(total, currency),
	},
	{ name: 'Date', width: '190px', cell: ({ created }) => <Time at={created} as="date" /> },
	{
		name: 'Documents',
		width: '140px',
		cell: ({ hostedInvoiceUrl, invoicePdf }) => (
			<>
				<Outside address={hostedInvoiceUrl} name="Open" />{' '}
				<Outside address={invoicePdf} name="PDF" />
			</>
		),
	},
]

const Outside = ({ address, name }: { address: string | null; name: string }) =>
	address && (
		<a href={address} target="_blank" rel="noopener noreferrer">
			{name}
		</a>
	)

export function Invoices() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'billing', 'invoices'],
		queryFn: () => api.billing.invoices(project.id),
	})
	return (
		<Stack>
			{data?.hasUnpaidInvoices && (
				<Notice tone="warn">
					<p>
						An invoice is not paid. Open it to pay. After the last attempt to collect a payment, the
						project is disabled until the invoice is paid.
					</p>
				</Notice>
			)}
			<Table
				name="Invoices"
				columns={columns}
				rows={data?.invoices}
				error={error}
				retry={() => void refetch()}
				rowKey={({ id }) => id}
				empty={<p>There is no invoice yet.</p>}
			/>
		</Stack>
	)
}
