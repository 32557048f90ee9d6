import { useEffect, useRef, useState } from 'react'
import type { MailForFrame, NeedOfMail } from '../mail-frame.ts'
import { Button } from './button.tsx'
import styles from './mail-frame.module.css'

interface Props {
	html: string
	/** The width of a phone, for example. By default all there is. */
	width?: number
	isDark?: boolean
	/** For the list of templates: no scrolling, no offer to load images. */
	isThumbnail?: boolean
	/** Its reader has asked for images already. */
	hasImagesAtOnce?: boolean
}

/**
 * A mail as its reader sees it. The frame has an opaque origin: nothing in the mail can run or reach the console. Images
 * from elsewhere are loaded only when asked for, because they tell that the mail was read.
 */
export function MailFrame({
	html,
	width,
	isDark = false,
	isThumbnail = false,
	hasImagesAtOnce = false,
}: Props) {
	const frame = useRef<HTMLIFrameElement>(null)
	const [height, setHeight] = useState(320)
	const [hasImages, setImages] = useState(hasImagesAtOnce)
	const [isHeldBack, setHeldBack] = useState(false)
	useEffect(() => {
		const send = () =>
			frame.current?.contentWindow?.postMessage(
				{ kind: 'mail', html, isDark, hasImages } satisfies MailForFrame,
				'*',
			)
		function listen({ source, data }: MessageEvent<NeedOfMail>) {
			if (source !== frame.current?.contentWindow) return
			if (data.kind === 'ready') return send()
			setHeight(Math.min(Math.max(data.height, 80), 20_000))
			setHeldBack(data.isHeldBack)
		}
		addEventListener('message', listen)
		send()
		return () => removeEventListener('message', listen)
	}, [html, isDark, hasImages])

	return (
		<div className={styles.mail} data-thumbnail={isThumbnail}>
			{!isThumbnail && isHeldBack && (
				<div className={styles.images}>
					<span>Images from elsewhere are not loaded: they would tell that the mail was read.</span>
					<Button kind="quiet" onClick={() => setImages(true)}>
						Load images
					</Button>
				</div>
			)}
			<iframe
				key={String(hasImages)}
				ref={frame}
				title={isThumbnail ? 'Thumbnail' : 'Mail'}
				src={`/console/mail-frame${hasImages ? '?images=on' : ''}`}
				sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
				tabIndex={isThumbnail ? -1 : 0}
				aria-hidden={isThumbnail}
				// What `prefers-color-scheme` is to the mail.
				style={{ height, maxWidth: width, colorScheme: isDark ? 'dark' : 'light' }}
			/>
		</div>
	)
}
