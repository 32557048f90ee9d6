import {
	type ButtonHTMLAttributes,
	cloneElement,
	lazy,
	type ReactElement,
	Suspense,
	useState,
} from 'react'
import type { MenuProps } from './menu.tsx'

const load = () => import('./menu.tsx')
const Menu = lazy(async () => ({ default: (await load()).Menu }))

interface Props extends Omit<MenuProps, 'trigger'> {
	trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>
}

/** A menu of every page, which is loaded when it is opened for the first time. */
export function MenuOnDemand({ trigger, ...menu }: Props) {
	const [isWanted, setWanted] = useState(false)
	const closed = cloneElement(trigger, {
		'aria-haspopup': 'menu',
		'aria-expanded': false,
		onPointerEnter: () => void load(),
		onClick: () => setWanted(true),
	})
	if (!isWanted) return closed
	return (
		<Suspense fallback={closed}>
			<Menu trigger={trigger} isOpenAtFirst {...menu} />
		</Suspense>
	)
}
