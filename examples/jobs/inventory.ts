/** TypeScript as people write it: enums, namespaces, generics, decorators, parameter properties, top-level await. */
import { setTimeout as delay } from 'node:timers/promises'

enum Shelf {
  Front = 'front',
  Back = 'back',
}

interface Identified {
  readonly id: string
}

class Item implements Identified {
  constructor(
    readonly id: string,
    readonly shelf: Shelf,
    public stock: number,
    private readonly priceCents: number,
  ) {}

  get worthCents(): number {
    return this.stock * this.priceCents
  }
}

class Repository<T extends Identified> {
  readonly #items = new Map<string, T>()

  add(...items: T[]): this {
    for (const item of items) this.#items.set(item.id, item)
    return this
  }

  async find(id: string): Promise<T> {
    // Stands for a query of a real database.
    await delay(1)
    const item = this.#items.get(id)
    if (item === undefined) throw new RangeError(`no item ${id}`)
    return item
  }

  all(): T[] {
    return [...this.#items.values()]
  }
}

namespace Money {
  const formatter = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })
  export const format = (cents: number): string => formatter.format(cents / 100)
}

const journal: string[] = []

function logged(_target: object, name: string, descriptor: PropertyDescriptor): PropertyDescriptor {
  const original = descriptor.value as (...args: unknown[]) => unknown
  return {
    ...descriptor,
    value(this: unknown, ...args: unknown[]) {
      journal.push(`${name}(${args.join(', ')})`)
      return original.apply(this, args)
    },
  }
}

class Warehouse {
  constructor(private readonly items: Repository<Item>) {}

  @logged
  async take(id: string, count: number): Promise<number> {
    const item = await this.items.find(id)
    if (item.stock < count) throw new RangeError(`only ${item.stock} of ${id} left`)
    return (item.stock -= count)
  }

  worth(shelf: Shelf): string {
    const items = this.items.all().filter((item) => item.shelf === shelf)
    return Money.format(items.reduce((sum, item) => sum + item.worthCents, 0))
  }
}

const items = new Repository<Item>().add(
  new Item('kettle', Shelf.Front, 40, 4_250),
  new Item('lamp', Shelf.Front, 12, 6_400),
  new Item('tent', Shelf.Back, 7, 18_900),
)
const warehouse = new Warehouse(items)

await warehouse.take('kettle', 3)
const refused = await warehouse.take('tent', 8).catch((error: Error) => error.message)

console.log(journal.join('; '))
;({ front: warehouse.worth(Shelf.Front), back: warehouse.worth(Shelf.Back), refused })
