import Foundation

@testable import Heartwood

/// A model built in code: firms, their employees, and managers, who are employees.
package final class FirmModel {
  package let firm = EntityDescription(name: "Firm")
  package let employee = EntityDescription(name: "Employee")
  package let manager = EntityDescription(name: "Manager")
  package let staff: RelationshipDescription
  package let firmOfEmployee: RelationshipDescription
  package let model: ManagedObjectModel

  package init() {
    staff = RelationshipDescription(name: "staff", destination: employee, isToMany: true)
    firmOfEmployee = RelationshipDescription(name: "firm", destination: firm, isToMany: false)
    staff.inverseRelationship = firmOfEmployee
    firmOfEmployee.inverseRelationship = staff
    firm.properties = [AttributeDescription(name: "title", type: .string), staff]
    employee.properties = [AttributeDescription(name: "name", type: .string), firmOfEmployee]
    employee.subentities = [manager]
    manager.ownProperties = [
      AttributeDescription(name: "bonus", type: .decimal, defaultValue: Decimal(string: "12.50"))
    ]
    model = ManagedObjectModel(entities: [firm, employee, manager])
  }

  package func frozen() throws -> ManagedObjectModel {
    try model.freeze()
    return model
  }
}
