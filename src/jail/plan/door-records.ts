/** The plan records of a network policy; native/cell/build/door.c reads them. */
import { writeAddress } from '../edge/address-ranges.ts'
import type { Door, DoorGround } from '../edge/door.ts'
import type { Edge, EdgePlan } from '../edge/edge.ts'
import type { PayloadWriter } from '../launch/frames.ts'

/** The address of this host's relay, and the secret that the relay expects first. */
export interface RelayGround {
  readonly name: string
  readonly secret: Uint8Array
}

export type DoorRecord =
  | ({ readonly do: 'reach-relay' } & RelayGround)
  | ({ readonly do: 'door' } & DoorGround & EdgePlan)

export function encodeDoor(record: DoorRecord, payload: PayloadWriter): PayloadWriter {
  if (record.do === 'reach-relay') return payload.string(record.name).bytes(record.secret)
  payload.u32(record.id).bytes(record.token).u32(record.routes.length)
  for (const { prefix, address } of record.routes) payload.u32(prefix).bytes(writeAddress(address))
  payload.u32(record.listeners.length)
  for (const { port, isSix } of record.listeners) payload.u32(port).u32(Number(isSix))
  return payload
}

/** The ground for a cell or space with a door. */
export interface EdgeGround {
  /** Absent in a space: its cell has reached the relay. */
  readonly relay?: RelayGround
  readonly door: DoorGround & EdgePlan
}

/** `relay` is set if the cell itself has to reach the relay. */
export function describeDoor(
  edge: Edge | undefined,
  door: Door | undefined,
  relay?: RelayGround,
): EdgeGround | undefined {
  if (edge === undefined || door === undefined) return undefined
  return { door: { ...door.ground, ...edge.plan }, ...(relay && { relay }) }
}

/** Applied before the namespaces, in the host's network. */
export function planRelay(relay: RelayGround | undefined): DoorRecord[] {
  return relay === undefined ? [] : [{ do: 'reach-relay', name: relay.name, secret: relay.secret }]
}

/** After the loopback. */
export function planDoor(edge: EdgeGround | undefined): DoorRecord[] {
  return edge === undefined ? [] : [{ do: 'door', ...edge.door }]
}
