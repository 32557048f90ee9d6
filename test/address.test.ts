import test from 'ava'
import { isEmail, normalizeEmail } from '../db/address.ts'

test('an address is stored in one spelling', (t) => {
	t.is(normalizeEmail('  Anna.Smith+News@Example.COM\n'), 'anna.smith+news@example.com')
	t.is(normalizeEmail('anna@Müller.example'), 'anna@xn--mller-kva.example')
	t.is(normalizeEmail(`a@${'ü'.repeat(50)}.${'ö'.repeat(50)}.de`).slice(0, 6), 'a@xn--')
})

test('addresses that providers deliver to are accepted', (t) => {
	for (const address of [
		'a@b.co',
		' Anna@Example.com ',
		"o'neil+tag@sub.domain.example",
		'x_y-z.1@1and1.example',
		'anna@müller.example',
		`${'a'.repeat(64)}@example.com`,
		'user@xn--80ak6aa92e.xn--p1ai',
	])
		t.true(isEmail(address), address)
})

test('addresses that they refuse are refused', (t) => {
	for (const address of [
		'',
		' ',
		'anna',
		'@example.com',
		'anna@',
		'anna@localhost',
		'anna@example',
		'anna@example.1',
		'anna@-example.com',
		'anna@example..com',
		'anna@exa_mple.com',
		'anna@[127.0.0.1]',
		'.anna@example.com',
		'anna.@example.com',
		'an..na@example.com',
		'an na@example.com',
		'anna@exam ple.com',
		'"anna"@example.com',
		'änna@example.com',
		'anna@example.com, b@example.com',
		'Anna <anna@example.com>',
		'anna@example.com\r\nBcc: b@example.com',
		'a@b@example.com',
		`${'a'.repeat(65)}@example.com`,
		`a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(20)}.com`,
		'a'.repeat(2000),
	])
		t.false(isEmail(address), address)
})
