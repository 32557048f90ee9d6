import type { ReactNode } from 'react'
import { Body, Container, Head, Html } from 'react-email'

export interface LayoutProps {
	language: string
	direction: 'ltr' | 'rtl'
	children: ReactNode
}

// Readers that know dark mode get their own colours; the others keep these, which are legible when
// inverted too. Elements are styled in the head because the content is not ours to rewrite.
const styleFor = (side: 'left' | 'right') => `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
.content h1, .content h2, .content h3 { line-height: 1.3; margin: 28px 0 12px; }
.content h1 { font-size: 24px; }
.content h2 { font-size: 20px; }
.content h3 { font-size: 17px; }
.content p, .content ul, .content ol, .content blockquote { margin: 0 0 16px; }
.content img { max-width: 100%; height: auto; border: 0; }
.content pre { overflow-x: auto; white-space: pre-wrap; }
.content blockquote { border-${side}: 3px solid #d0d7de; padding-${side}: 16px; }
.content hr { border: 0; border-top: 1px solid #d0d7de; margin: 24px 0; }
.content a { color: #0b62d6; }
@media (prefers-color-scheme: dark) {
.page, .page td { background-color: #16181c !important; }
.content { background-color: #16181c !important; color: #e6e8eb !important; }
.content a { color: #7db4ff !important; }
.content hr, .content blockquote { border-color: #4a525d !important; }
.tempost-footer { background-color: #16181c !important; color: #a9b1bc !important; }
.tempost-footer a { color: #a9b1bc !important; }
}
`

/** Around bodies that bring no design of their own, and around our own letters. */
export function Layout({ language, direction, children }: LayoutProps) {
	return (
		<Html lang={language} dir={direction}>
			<Head>
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<meta name="color-scheme" content="light dark" />
				<meta name="supported-color-schemes" content="light dark" />
				<style>{styleFor(direction === 'rtl' ? 'right' : 'left')}</style>
			</Head>
			{/* Body says English, left to right, unless it is told. */}
			<Body className="page" lang={language} dir={direction} style={page}>
				<Container className="content" style={content}>
					{children}
				</Container>
			</Body>
		</Html>
	)
}

const page = {
	backgroundColor: '#ffffff',
	margin: '0',
	padding: '0',
}

const content = {
	backgroundColor: '#ffffff',
	color: '#1f2328',
	fontFamily:
		'-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
	fontSize: '16px',
	lineHeight: '1.6',
	maxWidth: '600px',
	padding: '24px 20px',
}
