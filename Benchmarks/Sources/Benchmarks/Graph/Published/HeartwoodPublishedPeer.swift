import BenchmarkHarness
import Foundation
import Heartwood

final class User: ManagedObject {
  @Attribute(.unique) var identity = UUID()
  @Attribute var firstName = ""
  @Attribute var surname = ""
  @Attribute var age: Int64
}

final class School: ManagedObject {
  @Attribute(.unique) var identity = UUID()
  @Attribute(.indexed) var name = ""
  @Attribute var location = ""
  @Attribute var kind = ""
  @Relationship(inverse: { $0.school }, deleteRule: .cascade) var students: Set<Student>
}

final class Student: ManagedObject {
  @Attribute(.unique) var identity = UUID()
  @Attribute var firstName = ""
  @Attribute var surname = ""
  @Attribute var age: Int64
  @Relationship(inverse: { $0.students }) var school: School?
  @Relationship(inverse: { $0.student }, deleteRule: .cascade) var grades: Set<Grade>
}

final class Grade: ManagedObject {
  @Attribute(.unique) var identity = UUID()
  @Attribute var subject = ""
  @Attribute var grade = ""
  @Attribute var board = ""
  @Relationship(inverse: { $0.grades }) var student: Student?
  override class var compoundIndexes: [[String]] { [["subject", "student"], ["grade", "student"]] }
}

final class NorthwindOrder: ManagedObject {
  @Attribute(.unique) var number: Int64
  @Attribute var customer = ""
  @Attribute var employee: Int64
  @Attribute var ordered = ""
  @Attribute var required = ""
  @Attribute var shipped: String?
  @Attribute var shipper: Int64
  @Attribute var freight: Double
  @Attribute var name = ""
  @Attribute var address = ""
  @Attribute var city = ""
  @Attribute var region: String?
  @Attribute var postalCode = ""
  @Attribute var country = ""
}

/// Heartwood as a program uses it: declared classes, a context of its own for each row.
final class HeartwoodPublishedPeer: PublishedPeer {
  private let container: PersistentContainer

  init(directory: String) throws {
    container = try PersistentContainer(
      name: "Published", types: [User.self, School.self, Student.self, Grade.self, NorthwindOrder.self],
      at: URL(fileURLWithPath: directory).appending(path: "published.heartwood"))
  }

  func insert(_ users: [PublishedData.User]) throws {
    try inContext { context in
      for data in users {
        let user = User(context: context)
        user.identity = data.identity
        user.firstName = data.firstName
        user.surname = data.surname
        user.age = data.age
      }
      try context.save()
    }
  }

  func users(named name: String) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for user in try context.fetch(User.self, where: { $0.firstName == name }, sort: [.ascending(\.age)]) {
        digest.add(UInt64(bitPattern: user.age))
      }
      return digest.value
    }
  }

  func rename(_ name: String, to other: String) throws {
    try inContext { context in
      for user in try context.fetch(User.self, where: { $0.firstName == name }) { user.firstName = other }
      try context.save()
    }
  }

  func insert(_ schools: [PublishedData.School]) throws {
    try inContext { context in
      for data in schools {
        let school = School(context: context)
        school.identity = data.identity
        school.name = data.name
        school.location = data.location
        school.kind = data.kind
        for student in data.students { Self.insert(student, of: school, into: context) }
      }
      try context.save()
    }
  }

  private static func insert(
    _ data: PublishedData.Student, of school: School, into context: ManagedObjectContext
  ) {
    let student = Student(context: context)
    student.identity = data.identity
    student.firstName = data.firstName
    student.surname = data.surname
    student.age = data.age
    student.school = school
    for data in data.grades {
      let grade = Grade(context: context)
      grade.identity = data.identity
      grade.subject = data.subject
      grade.grade = data.grade
      grade.board = data.board
      grade.student = student
    }
  }

  func students(in subject: String, with grade: String) throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      let students = try context.fetch(
        Student.self,
        where: { $0.grades.contains { $0.subject == subject } && $0.grades.contains { $0.grade == grade } })
      for student in students { digest.add(student.surname, 0) }
      return digest.value
    }
  }

  func insert(_ orders: [PublishedData.Order]) throws {
    try inContext { context in
      for data in orders {
        let order = NorthwindOrder(context: context)
        order.number = data.number
        order.customer = data.customer
        order.employee = data.employee
        order.ordered = data.ordered
        order.required = data.required
        order.shipped = data.shipped
        order.shipper = data.shipper
        order.freight = data.freight
        order.name = data.name
        order.address = data.address
        order.city = data.city
        order.region = data.region
        order.postalCode = data.postalCode
        order.country = data.country
      }
      try context.save()
    }
  }

  func loadOrders() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for order in try context.fetch(NorthwindOrder.self, sort: [.ascending(\.number)]) {
        digest.add(
          (order.number, order.employee, order.shipper), order.freight,
          (order.customer, order.ordered, order.required, order.name, order.address),
          (order.city, order.postalCode, order.country), (order.shipped, order.region))
      }
      return digest.value
    }
  }

  func digestOfAll() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      for user in try context.fetch(User.self) {
        digest.add(user.identity.uuidString + user.firstName + user.surname, user.age)
      }
      for student in try context.fetch(Student.self) {
        digest.add(
          student.identity.uuidString + student.firstName + (student.school?.name ?? ""), student.age)
      }
      for grade in try context.fetch(Grade.self) {
        digest.add(
          grade.identity.uuidString + grade.subject + grade.grade + grade.board, grade.student?.age ?? -1)
      }
      return digest.value
    }
  }

  func close() throws { try container.close() }

  private func inContext<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }
}
