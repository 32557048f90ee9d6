import type { CampaignStats } from '../../client/index.ts'
import { useDeliveryNote } from '../emails/delivery-note.ts'
import { formatCount, formatPercent } from '../parts/figures.tsx'
import styles from './funnel.module.css'

/** From the recipients to the clicks: how many remain at each step. */
export function Funnel({ stats }: { stats: CampaignStats }) {
	const { totalRecipients, sentCount, deliveredCount, openedCount, clickedCount } = stats
	const steps = [
		{ name: 'Recipients', count: totalRecipients, about: undefined },
		{ name: 'Sent', count: sentCount, about: undefined },
		{ name: 'Delivered', count: deliveredCount, about: stats.deliveryRate },
		{ name: 'Opened', count: openedCount, about: stats.openRate },
		{ name: 'Clicked', count: clickedCount, about: stats.clickRate },
	]
	const note = useDeliveryNote(deliveredCount)
	const most = Math.max(...steps.map(({ count }) => count), 1)
	return (
		<dl className={styles.funnel} aria-label="Funnel">
			{steps.map(({ name, count, about }) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>
						<span className={styles.bar} style={{ width: `${(100 * count) / most}%` }} />
						<strong>{formatCount(count)}</strong>
						{about !== undefined && sentCount > 0 && (
							<span className={styles.share}>
								{name === 'Delivered' && note ? note : `${formatPercent(about)} of sent`}
							</span>
						)}
					</dd>
				</div>
			))}
		</dl>
	)
}
