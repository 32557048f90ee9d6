import type { ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Notice } from '../parts/notice.tsx'

interface Props {
	name: string
	secret: string
	onKept: () => void
	children: ReactNode
}

/** A secret, until its reader has kept it or leaves the page. */
export const ShownOnce = ({ name, secret, onKept, children }: Props) => (
	<Notice tone="warn" actions={<Button onClick={onKept}>I have kept it</Button>}>
		<p>{children}</p>
		<p aria-label={name}>
			<Copyable text={secret} />
		</p>
	</Notice>
)
