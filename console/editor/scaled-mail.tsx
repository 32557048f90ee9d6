import { useRef } from 'react'
import { MailFrame } from '../parts/mail-frame.tsx'
import styles from './scaled-mail.module.css'
import { useWidth } from './use-width.ts'

interface Props {
	html: string
	/** The width at which the mail is laid out. Where there is less room, it is shown smaller. */
	width: number
	isDark?: boolean
	isThumbnail?: boolean
}

export function ScaledMail({ html, width, isDark = false, isThumbnail = false }: Props) {
	const place = useRef<HTMLDivElement>(null)
	const room = useWidth(place)
	const zoom = room === 0 ? 1 : Math.min(room / width, 1)
	return (
		<div ref={place} className={styles.room}>
			{room > 0 && (
				<div className={styles.mail} style={{ width, zoom }}>
					<MailFrame html={html} isDark={isDark} isThumbnail={isThumbnail} />
				</div>
			)}
		</div>
	)
}
