import { Menu as Parts } from '@base-ui/react/menu'
import { Check } from 'lucide-react'
import type { ReactElement } from 'react'
import styles from './menu.module.css'

export interface MenuItem {
	name: string
	act: () => void
	isChosen?: boolean
	isDestructive?: boolean
	isDisabled?: boolean
}

export interface MenuProps {
	/** A button. */
	trigger: ReactElement
	/** null is a line. */
	items: (MenuItem | null)[]
	side?: 'top' | 'bottom'
	isOpenAtFirst?: boolean
}

export const Menu = ({ trigger, items, side = 'bottom', isOpenAtFirst = false }: MenuProps) => (
	<Parts.Root defaultOpen={isOpenAtFirst}>
		<Parts.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
		<Parts.Portal>
			<Parts.Positioner side={side} align="start" sideOffset={4} className={styles.place}>
				<Parts.Popup className={styles.menu}>
					{items.map((item, index) =>
						item === null ? (
							<Parts.Separator key={`line ${index}`} className={styles.line} />
						) : (
							<Parts.Item
								key={item.name}
								className={styles.item}
								onClick={item.act}
								disabled={item.isDisabled ?? false}
								data-destructive={item.isDestructive}
							>
								<span className={styles.check}>
									{item.isChosen && <Check size={14} aria-label="chosen" />}
								</span>
								{item.name}
							</Parts.Item>
						),
					)}
				</Parts.Popup>
			</Parts.Positioner>
		</Parts.Portal>
	</Parts.Root>
)
