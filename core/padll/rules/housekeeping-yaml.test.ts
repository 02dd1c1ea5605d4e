import { describe, expect, it } from 'vitest'
import { parseHousekeepingFile } from './housekeeping-yaml.ts'
import { parseHousekeeping } from './housekeeping.ts'

const YAML = `# the layout of a stage
channels:
  - channel: 1000
    class: meta_op
    objects:
      - { object: 1, refill_us: 10000, rate: 500000 }
  - channel: 2000
    operation: open
    workflow: 1000
    rule: 9
    objects:
      - { object: 1, rate: 200 }
      - { object: 2, operation: close }
`

describe('housekeeping as YAML', () => {
  it('says the same as its lines', () => {
    const lines = `1 create_channel 1000 posix_meta 0 no_op meta_op
2 create_object 1000 1 posix_meta no_op meta_op drl 10000 500000
9 create_channel 2000 posix 1000 open no_op
4 create_object 2000 1 posix open no_op drl 10000 200
5 create_object 2000 2 posix close no_op noop 0 0
`
    expect(parseHousekeepingFile(YAML)).toEqual(parseHousekeeping(lines))
    expect(parseHousekeepingFile(lines)).toEqual(parseHousekeeping(lines))
  })

  it.each([
    ['channels: 5', 1, 'with a list'],
    ['channels:\n  - text', 2, 'expected a channel'],
    ['channels:\n  - { channel: 1, clas: open }', 2, '"clas" is unknown'],
    ['channels:\n  - { channel: 1, class: metaop }', 2, '"metaop" is not a valid class'],
    ['channels:\n  - { channel: 1, class: "meta_op noop" }', 2, 'is not a single word'],
    ['channels:\n  - { class: meta_op }', 2, 'not a valid channel number'],
    [
      'channels:\n  - channel: 1\n    operation: open\n    objects:\n      - { object: 1, rate: 0 }',
      5,
      'not a valid rate in op/s',
    ],
    ['channels:\n  - channel: 1\n    operation: open\n    objects: [7]', 2, 'expected an object'],
    [
      'channels:\n  - { channel: 1, operation: open }\n  - { channel: 1, operation: close }',
      3,
      'channel 1 already exists',
    ],
    ['channels: [', 1, ''],
  ])('says where %j is wrong', (text, line, message) => {
    const { faults } = parseHousekeepingFile(text)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ line, severity: 'error' })
    expect(faults[0]?.message).toContain(message)
  })
})
