import test from 'ava'
import { toText } from '../mail/text/text.ts'
import { cpuMeter } from './helpers/cpu.ts'

const cases: [guarantee: string, html: string, text: string][] = [
	['paragraphs stand apart', '<p>a</p>\n\n<p>b</p><h1>c</h1>d', 'a\n\nb\n\nc\n\nd'],
	['line breaks are kept, white space collapses', ' a \n b<br>c<br><br>d ', 'a b\nc\n\nd'],
	['inline elements leave no trace', 'a<b>b</b> <i> c</i>!', 'ab c!'],
	[
		'a link shows its address',
		'<a href="https://e.x/?a=1&amp;b=2">us</a>',
		'us (https://e.x/?a=1&b=2)',
	],
	['a link that is its address shows it once', '<a href="https://e.x/">e.x</a>', 'e.x'],
	['an address to write to shows once', '<a href="mailto:a@b.c">a@b.c</a>', 'a@b.c'],
	['links to nowhere show their text', '<a href="#x">a</a> <a href="javascript:x">b</a>', 'a b'],
	['an image shows its alternative text', '<img alt="Logo" src=x><img src=y>', 'Logo'],
	['a linked image leads somewhere', '<a href="https://e.x"><img></a>', 'https://e.x'],
	[
		'lists have marks and numbers',
		'<ul><li>a</li><li>b<ol start=3><li>c<li>d</ol></ul>e',
		'- a\n- b\n  3. c\n  4. d\n\ne',
	],
	[
		'cells of a row stand on one line',
		'<table><tr><th>a<th>b<tr><td>c</td><td></td></tr></table>',
		'a | b\nc',
	],
	['quotations are marked', 'a<blockquote><p>b</p><p>c</p></blockquote>d', 'a\n\n> b\n>\n> c\n\nd'],
	['preformatted text keeps its shape', '<pre>a\n  b\n\nc</pre>', 'a\n  b\n\nc'],
	['a rule is a line', 'a<hr>b', 'a\n\n---\n\nb'],
	[
		'entities are decoded once',
		'&lt;b&gt; &amp;amp; &#x1F600; &auml;&euro; &nope; &#0;',
		'<b> &amp; 😀 ä€ &nope;',
	],
	[
		'numbers of Windows signs are those signs, as in browsers',
		'It&#146;s &#147;new&#x94; &#150; 5 &#128;',
		'It’s “new” – 5 €',
	],
	[
		'what is not for reading is dropped',
		'<head><title>t</title><style>p{}</style></head>a<script>"</p>"</script><!-- <p>x -->b',
		'ab',
	],
	[
		'hidden preview text is dropped',
		'<div style="color:red;Display : NONE">x<div>y</div>z</div>a<p hidden>b</p>',
		'a',
	],
	[
		'spacers are dropped, joiners in words stay',
		'a&zwnj;&nbsp;&#847;\u200b\u200c b \u00ad👨‍👩‍👧 می‌خواهم',
		'a b 👨‍👩‍👧 می‌خواهم',
	],
	['signs that open no tag are text', 'a < b <3 c > d </ e', 'a < b <3 c > d </ e'],
	['a sign within a value ends no tag', '<p title="a>b" class=\'>\'>c</p>', 'c'],
	[
		'broken HTML loses no text',
		'<b><p>a</div></table>b</li></ul><li>c<td>d</a>',
		'a\n\nb\n\n- c | d',
	],
	['nothing gives nothing', '<p> &nbsp; </p>', ''],
]

for (const [guarantee, html, text] of cases) {
	test(`in the text part ${guarantee}`, (t) => t.is(toText(html), text))
}

const hostile = [
	'<',
	'<a ',
	'<a href="',
	'<div>',
	'<a href=x>y',
	'<!--',
	'<style>',
	'<ul><li>x',
	'<blockquote>x',
	'&#',
	'&',
	'\u200c',
	'<p style="display:none">',
	'<b style=',
	'<a style=display ',
	'</',
	'<td>x',
	'<i = ',
	'<a href=https://x.y>z</a>',
	'<pre>\n',
	' ',
	'<p ="',
	'<svg>',
	'<i style="display   ',
]

for (const unit of hostile) {
	test(`1 MB of ${JSON.stringify(unit)} takes no longer than its length`, (t) => {
		const html = unit.repeat(1_000_000 / unit.length)
		const spentMs = cpuMeter()
		toText(html)
		t.true(spentMs() < 3000, `${spentMs()} ms`)
	})
}
