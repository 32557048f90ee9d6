import test from 'ava'
import { isPublicAddress } from '../outside/requests/public-address.ts'

const isPublic = [
	'1.1.1.1',
	'8.8.8.8',
	'172.32.0.1',
	'100.128.0.1',
	'2606:4700::1111',
	'::ffff:8.8.8.8',
	'64:ff9b::808:808',
	'2002:808:808::1',
	'2a00:1450:4001::200e',
]
const isNot = [
	'0.0.0.0',
	'10.1.2.3',
	'100.64.0.1',
	'100.127.255.255',
	'127.0.0.1',
	'127.255.0.9',
	'169.254.169.254',
	'172.16.0.1',
	'172.31.255.255',
	'192.168.1.1',
	'192.0.0.8',
	'192.0.2.1',
	'198.18.0.1',
	'198.19.255.255',
	'203.0.113.9',
	'224.0.0.1',
	'240.0.0.1',
	'255.255.255.255',
	'::',
	'::1',
	'::127.0.0.1',
	'::ffff:127.0.0.1',
	'::ffff:a9fe:a9fe',
	'64:ff9b::7f00:1',
	'64:ff9b:1::1',
	'2002:7f00:1::',
	'2002:c0a8:101::1',
	'fe80::1',
	'fe80::1%eth0',
	'fc00::1',
	'fd12:3456::1',
	'fec0::1',
	'ff02::1',
	'2001:db8::1',
	'2001::1',
	'100::1',
	'localhost',
	'',
	'1.2.3',
]

for (const address of isPublic)
	test(`${address} is of the open internet`, (t) => t.true(isPublicAddress(address)))
for (const address of isNot)
	test(`${address || 'nothing'} is not of the open internet`, (t) =>
		t.false(isPublicAddress(address)))
