import Foundation
import Heartwood
import Testing

/// Questions about what was sold, each answered by one fetch.
@Suite struct `Questions about a shop's sales` {
  private let shop: ShopStore
  private let context: ManagedObjectContext

  init() throws {
    shop = try ShopStore.shared.get()
    context = shop.container.newBackgroundContext()
  }

  @Test func `artists are ordered by the tracks sold`() throws {
    shop.expect(
      "the ten artists of whom most tracks were sold",
      try context.fetchRows(
        Shop.InvoiceLine.self,
        columns: { ($0.track.album.artist.name, $0.quantity.sum(), ($0.unitPrice * $0.quantity).sum()) },
        groupedBy: { [$0.track.album.artist.name] },
        sort: { [.descending($0.quantity.sum()), .ascending($0.track.album.artist.name)] }, limit: 10))
  }

  @Test func `revenue is summed by country, month and year`() throws {
    shop.expect(
      "revenue by country",
      try context.fetchRows(
        Shop.Invoice.self,
        columns: { ($0.country, RowFunction.count(), $0.total.sum(), $0.total.average()) },
        sort: { [.descending($0.total.sum()), .ascending($0.country)] }))
    shop.expect(
      "revenue by month",
      try context.fetchRows(
        Shop.Invoice.self, columns: { ($0.date.year, $0.date.month, $0.total.sum()) },
        sort: { [.ascending($0.date.year), .ascending($0.date.month)] }))
    shop.expect(
      "revenue by country and year, above fifteen",
      try context.fetchRows(
        Shop.Invoice.self, columns: { ($0.country, $0.date.year, $0.total.sum()) },
        having: { $0.total.sum() > 15 }, sort: { [.ascending($0.country), .ascending($0.date.year)] }))
  }

  @Test func `running totals and differences go over the months and years`() throws {
    shop.expect(
      "the running total of revenue",
      try context.fetchRows(
        Shop.Invoice.self,
        columns: {
          (
            $0.date.year, $0.date.month,
            $0.total.sum().sum().over(orderedBy: .ascending($0.date.year), .ascending($0.date.month))
          )
        }, sort: { [.ascending($0.date.year), .ascending($0.date.month)] }))
    shop.expect(
      "each year's revenue beside the year before",
      try context.fetchRows(
        Shop.Invoice.self,
        columns: {
          (
            $0.date.year, $0.total.sum(),
            $0.total.sum() - $0.total.sum().lag(orderedBy: .ascending($0.date.year))
          )
        }, sort: { [.ascending($0.date.year)] }))
  }

  @Test func `the best of each group are selected by their rank`() throws {
    shop.expect(
      "the three best-selling albums of each genre",
      try context.fetchRows(
        Shop.InvoiceLine.self,
        columns: {
          (
            $0.track.genre.name, $0.track.album.title, $0.quantity.sum(),
            RowFunction.rank(
              partitionedBy: $0.track.genre.name, orderedBy: .descending($0.quantity.sum()))
          )
        }, groupedBy: { [$0.track.genre.name, $0.track.album, $0.track.album.title] },
        having: {
          RowFunction.rank(
            partitionedBy: $0.track.genre.name, orderedBy: .descending($0.quantity.sum())) <= 3
        },
        sort: {
          [
            .ascending($0.track.genre.name),
            .ascending(
              RowFunction.rank(
                partitionedBy: $0.track.genre.name, orderedBy: .descending($0.quantity.sum()))),
            .ascending($0.track.album.title),
          ]
        }))
    shop.expect(
      "the most popular genre of each country",
      try context.fetchRows(
        Shop.InvoiceLine.self,
        columns: { ($0.invoice.customer.country, $0.track.genre.name, $0.quantity.sum()) },
        having: {
          RowFunction.rank(
            partitionedBy: $0.invoice.customer.country, orderedBy: .descending($0.quantity.sum())) == 1
        }, sort: { [.ascending($0.invoice.customer.country), .ascending($0.track.genre.name)] }))
  }

  @Test func `invoices are counted by the day of the week`() throws {
    shop.expect(
      "sales by the day of the week",
      try context.fetchRows(
        Shop.Invoice.self,
        columns: { ($0.date.weekday, RowFunction.count(), RowFunction.count(where: $0.total >= 10)) },
        sort: { [.ascending($0.date.weekday)] }))
    let wrong = try context.count(
      Shop.Invoice.self, where: { $0.total != $0.lines.sum { $0.unitPrice * $0.quantity } })
    shop.expect("invoices whose total is not the sum of their lines", wrong)
  }
}
