import type { AnalyticsDay } from '../../client/index.ts'
import { useDeliveryNote } from '../emails/delivery-note.ts'
import { Figures, formatPercent } from '../parts/figures.tsx'
import { Soft, Stack } from '../parts/page.tsx'

const names = {
	emails: 'Sent',
	delivered: 'Delivered',
	opens: 'Opened',
	clicks: 'Clicked',
	bounces: 'Bounced',
	complaints: 'Spam reports',
}
type Sums = Record<keyof typeof names, number>
const keys: (keyof Sums)[] = ['emails', 'delivered', 'opens', 'clicks', 'bounces', 'complaints']

export function sumsOf(days: AnalyticsDay[]): Sums {
	const sums: Sums = { emails: 0, delivered: 0, opens: 0, clicks: 0, bounces: 0, complaints: 0 }
	for (const day of days) for (const key of keys) sums[key] += day[key]
	return sums
}

/** The sums of a period, as shares of the mails sent in it, and against as many days before. */
export function Totals({ days, earlier }: { days: AnalyticsDay[]; earlier: AnalyticsDay[] }) {
	const [sums, past] = [sumsOf(days), sumsOf(earlier)]
	const note = useDeliveryNote(sums.delivered)
	return (
		<Stack>
			<Figures
				figures={keys.map((key) => ({
					name: names[key],
					value: sums[key],
					about:
						key === 'delivered' && note ? (
							note
						) : (
							<>
								{key !== 'emails' && <div>{shareOf(sums[key], sums.emails)}</div>}
								<div>{changeOf(sums[key], past[key])}</div>
							</>
						),
				}))}
			/>
			<Soft>
				Each mail counts once per figure, on the day when it happened. Changes are against the{' '}
				{earlier.length === 1 ? 'day' : `${earlier.length} days`} before.
			</Soft>
		</Stack>
	)
}

/** Opens of mails that were sent before the period can be more than the mails of the period. */
const shareOf = (part: number, sent: number) =>
	sent === 0 || part > sent ? '–' : `${formatPercent((100 * part) / sent)} of sent`

const change = new Intl.NumberFormat(undefined, {
	style: 'percent',
	signDisplay: 'exceptZero',
	maximumFractionDigits: 0,
})

function changeOf(now: number, past: number) {
	if (past === 0) return now === 0 ? 'No change' : 'None before'
	return change.format((now - past) / past)
}
