import { expect, it } from 'vitest'
import { readPaste } from './paste.ts'

it('finds the line of lctl in what was copied from a terminal', () => {
  const line = 'lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start loginnode {192.168.1.1@tcp} 100"'
  expect(readPaste(`$ ${line}\n`)).toEqual({ text: line, service: 'ost_io', more: 0 })
  expect(readPaste(`# as root\r\n  # ${line}\r\n`)?.text).toBe(line)
  expect(readPaste('mds.MDS.mdt.nrs_tbf_rule=start a uid={5} rate=9')?.service).toBe('mdt')
  expect(readPaste('reg stop loginnode\nstop b')).toEqual({ text: 'reg stop loginnode', service: null, more: 1 })
})

it('leaves other text alone', () => {
  for (const text of ['', '4690.python.u1021', 'restart the node', 'x'.repeat(9000)]) expect(readPaste(text)).toBeNull()
})
