import { useState } from 'react'
import type { AnalyticsDay } from '../../client/index.ts'
import { formatCount } from '../parts/figures.tsx'
import { type Column, Table } from '../parts/table.tsx'

const count = (name: string, key: Exclude<keyof AnalyticsDay, 'date'>): Column<AnalyticsDay> => ({
	name,
	cell: (day) => formatCount(day[key]),
	isNumber: true,
})

const columns: Column<AnalyticsDay>[] = [
	{ name: 'Day', cell: ({ date }) => date },
	count('Sent', 'emails'),
	count('Delivered', 'delivered'),
	count('Opened', 'opens'),
	count('Clicked', 'clicks'),
	count('Bounced', 'bounces'),
	count('Spam reports', 'complaints'),
]

/** The charts in figures, newest first, for readers who want or need them. */
export function DaysTable({ days }: { days: AnalyticsDay[] }) {
	const [isOpen, setOpen] = useState(false)
	return (
		<details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
			<summary>All figures by day</summary>
			{isOpen && (
				<Table
					name="Figures by day"
					columns={columns}
					rows={days.toReversed()}
					rowKey={({ date }) => date}
					empty={null}
				/>
			)}
		</details>
	)
}
